import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { failure, storageError } from './disk-errors.ts';
import type { Ask, Told } from './list-thread.ts';

/** Reads folders in one warm thread: cheaper than libuv's pool in every measure, and the event loop is never held. */
export interface Lister extends AsyncDisposable {
  /** Entries in batches; `close` is called at the end, or when the reader leaves. */
  list(descriptor: number, close: () => void): AsyncIterable<readonly Entry[]>;
  /** One page, read and sorted in the thread. */
  page(descriptor: number, query: ListingQuery): Promise<ListingPage>;
}

export function folderLister(): Lister {
  const waiting = new Map<number, (told: Told) => void>();
  let thread: Worker | undefined;
  let last = 0;
  function begin(): Worker {
    const begun = startThread('./list-thread', import.meta.url);
    begun.on('message', (told: Told) => {
      waiting.get(told.number)?.(told);
      waiting.delete(told.number);
      if (waiting.size === 0) begun.unref();
    });
    const end = () => {
      thread = undefined;
      for (const [number, tell] of waiting) tell({ number, entries: [], total: 0, problem: 'EIO' });
      waiting.clear();
    };
    begun.on('error', end).on('exit', end);
    return begun;
  }
  const ask = (question: Ask) =>
    new Promise<Told>((resolve) => {
      thread ??= begin();
      thread.ref();
      waiting.set(question.number, resolve);
      thread.postMessage(question);
    });
  return {
    async page(descriptor, query) {
      last += 1;
      const { entries, total, problem } = await ask({ number: last, does: 'page', descriptor, query });
      if (problem) throw storageError(failure(problem));
      return { entries, total };
    },
    async *list(descriptor, close) {
      last += 1;
      const number = last;
      try {
        for (let does: 'begin' | 'next' = 'begin'; ; does = 'next') {
          const { entries, problem } = await ask({ number, does, descriptor });
          if (problem) throw storageError(failure(problem));
          if (entries.length === 0) return;
          yield entries;
        }
      } finally {
        thread?.postMessage({ number, does: 'stop', descriptor } satisfies Ask);
        close();
      }
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
