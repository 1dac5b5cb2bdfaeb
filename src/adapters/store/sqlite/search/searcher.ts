import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import type { SearchedRecords, SearchPage, WordMatch } from '#ports/search.ts';
import type { SearchData, SearchThreadRequest, SearchThreadResponse } from './search-thread.ts';
import type { ChangedRecord } from './tenant-texts.ts';
import type { WordPage } from './word-page.ts';

interface PendingRequest {
  readonly resolve: (response: SearchThreadResponse) => void;
  readonly reject: (cause: Error) => void;
}
type UnnumberedRequest = SearchThreadRequest extends infer M ? (M extends { number: number } ? Omit<M, 'number'> : never) : never;

/** A hold on new requests. */
export interface HeldSearches {
  /** Resolves when all earlier requests have a response. */
  readonly idle: Promise<void>;
  readonly release: () => void;
}

/** Runs long queries in a thread with a connection of its own, so that they block no other work. */
export interface Searcher extends AsyncDisposable {
  /** Returns the number of requests without a response. */
  readonly waiting: () => number;
  readonly ask: RunQuery;
  /** Finds a page of records that contain a word. @returns null if the tenant's texts do not fit in the memory limit */
  find(texts: SearchedRecords, match: WordMatch, page: WordPage): Promise<SearchPage | null>;
  /** Reads texts that may be searched next, if there is memory left. */
  expect(texts: SearchedRecords): void;
  /** Reports the texts that a commit may have changed. Every later request sees the new texts. */
  tell(changed: readonly ChangedRecord[]): void;
  /** Holds back new requests until `release`. Only one hold at a time. */
  hold(): HeldSearches;
}

/** Returns a searcher. Its thread starts with the first request. @param onError called with every error of SQLite in the thread */
export function searchThread(data: SearchData, onError: (cause: unknown) => void): Searcher {
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
    const worker = startThread('./search-thread', import.meta.url, data, data.mostBytes);
    worker.on('message', (response: SearchThreadResponse) => {
      const request = pending.get(response.number);
      pending.delete(response.number);
      if ('problem' in response) {
        const cause = Object.assign(new Error(response.problem), { errcode: response.errcode });
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
    waiting: () => pending.size + (held?.length ?? 0),
    async ask(sql, parameters) {
      const response = await send({ ask: { sql, parameters } });
      return 'answer' in response ? response.answer : { rows: [], changes: 0 };
    },
    async find(texts, { word, within }, page) {
      const response = await send({ find: page, texts, holding: { word, within } });
      return 'page' in response ? response.page : null;
    },
    expect(texts) {
      thread?.postMessage({ expected: texts });
    },
    tell(changed) {
      if (changed.length > 0) thread?.postMessage({ changed });
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
