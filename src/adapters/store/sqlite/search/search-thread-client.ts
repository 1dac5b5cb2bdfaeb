import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import type { SearchPage, SearchScope, WordMatch } from '#ports/search.ts';
import type { SearchThreadData, SearchThreadRequest, SearchThreadResponse } from './search-thread.ts';
import type { ChangedRecord } from './tenant-texts.ts';
import type { WordPageRequest } from './word-page.ts';

interface PendingRequest {
  readonly resolve: (response: SearchThreadResponse) => void;
  readonly reject: (cause: Error) => void;
  /** When it was sent; monotonic time in ms. */
  readonly sentAt: number;
}
type UnnumberedRequest = SearchThreadRequest extends infer M ? (M extends { number: number } ? Omit<M, 'number'> : never) : never;

const longRequest = 50; // ms

/** A hold on new requests. */
export interface SearchHold {
  /** Resolves when all earlier requests have a response or have failed. */
  readonly idle: Promise<void>;
  readonly release: () => void;
}

/** Runs long queries in a thread with a connection of its own, so that they block no other work. */
export class SearchThread implements AsyncDisposable {
  readonly #data: SearchThreadData;
  readonly #onError: (cause: unknown) => void;
  readonly #pending = new Map<number, PendingRequest>();
  #lastNumber = 0;
  /** Requests that wait for the end of a hold; null: there is no hold. */
  #heldRequests: (() => void)[] | null = null;
  #onIdle = () => {};
  #thread: Worker | undefined;

  /** The thread starts with the first request. @param onError called with the error of each request that fails in the thread */
  constructor(data: SearchThreadData, onError: (cause: unknown) => void) {
    this.#data = data;
    this.#onError = onError;
  }

  /** Number of requests without a response. */
  get pendingCount(): number {
    return this.#pending.size + (this.#heldRequests?.length ?? 0);
  }

  /** Returns whether a request has had no response for a while, so that new requests would have to wait for it. */
  hasLongRequest(): boolean {
    const [oldest] = this.#pending.values();
    return oldest !== undefined && performance.now() - oldest.sentAt > longRequest;
  }

  readonly query: RunQuery = async (sql, parameters) => {
    const response = await this.#send({ query: { sql, parameters } });
    return 'result' in response ? response.result : { rows: [], changes: 0 };
  };

  /** Finds a page of records that contain a word. @returns null if the tenant's texts do not fit in the memory limit */
  async find(texts: SearchScope, { word, locationIds }: WordMatch, page: WordPageRequest): Promise<SearchPage | null> {
    const response = await this.#send({ find: page, texts, match: { word, locationIds } });
    return 'page' in response ? response.page : null;
  }

  /** Reads texts that may be searched next, if there is memory left and the thread has started. */
  preload(texts: SearchScope): void {
    this.#notify({ preload: texts });
  }

  /** Reports the texts that a commit may have changed. Every later request sees the new texts. */
  applyChanges(changedRecords: readonly ChangedRecord[]): void {
    if (changedRecords.length > 0) this.#notify({ changedRecords });
  }

  /** Holds back new requests until `release`. Only one hold at a time. */
  hold(): SearchHold {
    this.#heldRequests = [];
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (this.#pending.size === 0) this.#onIdle();
    const release = () => {
      const requests = this.#heldRequests ?? [];
      this.#heldRequests = null;
      for (const postNow of requests) postNow();
    };
    return { idle: idle.promise, release };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }

  #send(request: UnnumberedRequest): Promise<SearchThreadResponse> {
    return new Promise((resolve, reject) => {
      const postNow = () => {
        try {
          this.#post(request, { resolve, reject, sentAt: performance.now() });
        } catch (cause) {
          reject(cause); // the thread could not start
        }
      };
      if (this.#heldRequests) this.#heldRequests.push(postNow);
      else postNow();
    });
  }

  #post(request: UnnumberedRequest, callbacks: PendingRequest): void {
    this.#thread ??= this.#start();
    this.#thread.ref();
    this.#lastNumber += 1;
    this.#pending.set(this.#lastNumber, callbacks);
    this.#thread.postMessage({ number: this.#lastNumber, ...request });
  }

  #notify(message: SearchThreadRequest): void {
    this.#thread?.postMessage(message);
  }

  #start(): Worker {
    const thread = startThread('./search-thread', import.meta.url, this.#data, this.#data.maxBytes);
    thread.on('message', (response: SearchThreadResponse) => {
      this.#receive(response);
      if (this.#pending.size > 0) return;
      thread.unref();
      this.#onIdle();
    });
    thread.on('error', (cause) => this.#failAll(thread, cause instanceof Error ? cause : new Error(String(cause))));
    thread.on('exit', () => this.#failAll(thread, new Error('the search thread ended')));
    return thread;
  }

  #receive(response: SearchThreadResponse): void {
    const request = this.#pending.get(response.number);
    this.#pending.delete(response.number);
    if (!('error' in response)) return void request?.resolve(response);
    const cause = Object.assign(new Error(response.error), { errcode: response.errcode });
    request?.reject(cause);
    this.#onError(cause);
  }

  #failAll(thread: Worker, cause: Error): void {
    if (this.#thread !== thread) return; // the pending requests are those of a later thread
    for (const { reject } of this.#pending.values()) reject(cause);
    this.#pending.clear();
    this.#onIdle();
    this.#thread = undefined;
  }
}
