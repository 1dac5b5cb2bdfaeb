import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import type { SearchedRecords, SearchPage, WordMatch } from '#ports/search.ts';
import type { SearchThreadData, SearchThreadRequest, SearchThreadResponse } from './search-thread.ts';
import type { ChangedRecord } from './tenant-texts.ts';
import type { WordPageRequest } from './word-page.ts';

interface PendingRequest {
  readonly resolve: (response: SearchThreadResponse) => void;
  readonly reject: (cause: Error) => void;
}
type UnnumberedRequest = SearchThreadRequest extends infer M ? (M extends { number: number } ? Omit<M, 'number'> : never) : never;

/** A hold on new requests. */
export interface SearchHold {
  /** Resolves when all earlier requests have a response. */
  readonly idle: Promise<void>;
  readonly release: () => void;
}

/** Runs long queries in a thread with a connection of its own, so that they block no other work. */
export interface SearchThread extends AsyncDisposable {
  /** Returns the number of requests without a response. */
  readonly pendingCount: () => number;
  readonly query: RunQuery;
  /** Finds a page of records that contain a word. @returns null if the tenant's texts do not fit in the memory limit */
  find(texts: SearchedRecords, match: WordMatch, page: WordPageRequest): Promise<SearchPage | null>;
  /** Reads texts that may be searched next, if there is memory left. */
  preload(texts: SearchedRecords): void;
  /** Reports the texts that a commit may have changed. Every later request sees the new texts. */
  applyChanges(changed: readonly ChangedRecord[]): void;
  /** Holds back new requests until `release`. Only one hold at a time. */
  hold(): SearchHold;
}

/** Returns a searcher. Its thread starts with the first request. @param onError called with every error of SQLite in the thread */
export function startSearchThread(data: SearchThreadData, onError: (cause: unknown) => void): SearchThread {
  const pending = new Map<number, PendingRequest>();
  let lastNumber = 0;
  let held: (() => void)[] | null = null;
  let onIdle = () => {};
  let thread: Worker | undefined;
  const failAll = (worker: Worker, cause: Error) => {
    if (thread !== worker) return; // the pending requests are those of a later thread
    for (const { reject } of pending.values()) reject(cause);
    pending.clear();
    onIdle();
    thread = undefined;
  };
  function startWorker(): Worker {
    const worker = startThread('./search-thread', import.meta.url, data, data.maxBytes);
    worker.on('message', (response: SearchThreadResponse) => {
      const request = pending.get(response.number);
      pending.delete(response.number);
      if ('error' in response) {
        const cause = Object.assign(new Error(response.error), { errcode: response.errcode });
        request?.reject(cause);
        onError(cause);
      } else request?.resolve(response);
      if (pending.size > 0) return;
      worker.unref();
      onIdle();
    });
    worker.on('error', (cause) => failAll(worker, cause instanceof Error ? cause : new Error(String(cause))));
    worker.on('exit', () => failAll(worker, new Error('the search thread ended')));
    return worker;
  }
  function post(request: UnnumberedRequest, callbacks: PendingRequest): void {
    thread ??= startWorker();
    thread.ref();
    lastNumber += 1;
    pending.set(lastNumber, callbacks);
    thread.postMessage({ number: lastNumber, ...request });
  }
  const notify = (message: SearchThreadRequest) => thread?.postMessage(message);
  const send = (request: UnnumberedRequest) =>
    new Promise<SearchThreadResponse>((resolve, reject) => {
      const postNow = () => {
        try {
          post(request, { resolve, reject });
        } catch (cause) {
          reject(cause); // the thread could not start
        }
      };
      if (held) held.push(postNow);
      else postNow();
    });
  return {
    pendingCount: () => pending.size + (held?.length ?? 0),
    async query(sql, parameters) {
      const response = await send({ query: { sql, parameters } });
      return 'result' in response ? response.result : { rows: [], changes: 0 };
    },
    async find(texts, { word, locationIds: within }, page) {
      const response = await send({ find: page, texts, match: { word, locationIds: within } });
      return 'page' in response ? response.page : null;
    },
    preload(texts) {
      notify({ preload: texts });
    },
    applyChanges(changedRecords) {
      if (changedRecords.length > 0) notify({ changedRecords });
    },
    hold() {
      held = [];
      const idle = Promise.withResolvers<void>();
      onIdle = idle.resolve;
      if (pending.size === 0) onIdle();
      return {
        idle: idle.promise,
        release() {
          const requests = held ?? [];
          held = null;
          for (const postNow of requests) postNow();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
