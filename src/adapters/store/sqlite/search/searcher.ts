import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import type { SearchedRecords, SearchPage, WordMatch } from '#ports/search.ts';
import type { SearchData, SearchThreadRequest, SearchThreadResponse } from './search-thread.ts';
import type { ChangedRecord } from './tenant-texts.ts';
import type { WordPage } from './word-page.ts';

interface Pending {
  readonly resolve: (told: SearchThreadResponse) => void;
  readonly reject: (cause: Error) => void;
}
type Question = SearchThreadRequest extends infer M ? (M extends { number: number } ? Omit<M, 'number'> : never) : never;

/** Questions that are held back. */
export interface HeldSearches {
  /** Settles when those that were put before are answered. */
  readonly idle: Promise<void>;
  readonly release: () => void;
}

/** Long questions, answered by a thread with a connection of its own: they hold up nobody else. */
export interface Searcher extends AsyncDisposable {
  /** How many questions wait for their answers. */
  readonly waiting: () => number;
  readonly ask: RunQuery;
  /** @returns null where the tenant's texts are more than memory is given for */
  find(texts: SearchedRecords, holding: WordMatch, page: WordPage): Promise<SearchPage | null>;
  /** A word may be looked for in these texts next: they are read meanwhile, where there is memory left. */
  expect(texts: SearchedRecords): void;
  /** Tells which texts a commit may have changed; what is asked from then on is answered by the new ones. */
  tell(changed: readonly ChangedRecord[]): void;
  /** Puts no further question until it is released; one hold at a time. */
  hold(): HeldSearches;
}

/** The thread begins with the first question. @param failed called with every error of SQLite in the thread */
export function searchThread(data: SearchData, failed: (cause: unknown) => void): Searcher {
  const pending = new Map<number, Pending>();
  let last = 0;
  let held: (() => void)[] | null = null;
  let idle = () => {};
  let thread: Worker | undefined;
  const failAll = (ended: Worker, cause: Error) => {
    if (thread !== ended) return; // its successor's questions are not its own
    for (const { reject } of pending.values()) reject(cause);
    pending.clear();
    idle();
    thread = undefined;
  };
  function begin(): Worker {
    const begun = startThread('./search-thread', import.meta.url, data, data.mostBytes);
    begun.on('message', (told: SearchThreadResponse) => {
      const waiting = pending.get(told.number);
      pending.delete(told.number);
      if ('problem' in told) {
        const cause = Object.assign(new Error(told.problem), { errcode: told.errcode });
        waiting?.reject(cause);
        failed(cause);
      } else waiting?.resolve(told);
      if (pending.size > 0) return;
      begun.unref();
      idle();
    });
    begun.on('error', (cause) => failAll(begun, cause instanceof Error ? cause : new Error(String(cause))));
    begun.on('exit', () => failAll(begun, new Error('the search thread ended')));
    return begun;
  }
  function post(question: Question, waiting: Pending): void {
    thread ??= begin();
    thread.ref();
    last += 1;
    pending.set(last, waiting);
    thread.postMessage({ number: last, ...question });
  }
  const put = (question: Question) =>
    new Promise<SearchThreadResponse>((resolve, reject) => {
      const putOne = () => {
        try {
          post(question, { resolve, reject });
        } catch (cause) {
          reject(cause); // no thread could begin
        }
      };
      if (held) held.push(putOne);
      else putOne();
    });
  return {
    waiting: () => pending.size + (held?.length ?? 0),
    async ask(sql, parameters) {
      const told = await put({ ask: { sql, parameters } });
      return 'answer' in told ? told.answer : { rows: [], changes: 0 };
    },
    async find(texts, { word, within }, page) {
      const told = await put({ find: page, texts, holding: { word, within } });
      return 'page' in told ? told.page : null;
    },
    expect(texts) {
      thread?.postMessage({ expected: texts });
    },
    tell(changed) {
      if (changed.length > 0) thread?.postMessage({ changed });
    },
    hold() {
      held = [];
      const answered = Promise.withResolvers<void>();
      idle = answered.resolve;
      if (pending.size === 0) idle();
      return {
        idle: answered.promise,
        release() {
          const questions = held ?? [];
          held = null;
          for (const putOne of questions) putOne();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
