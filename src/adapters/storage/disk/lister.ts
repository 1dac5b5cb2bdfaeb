import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { failure, storageError } from './disk-errors.ts';
import type { Ask, Told } from './list-thread.ts';

const idleFor = 60_000; // ms without work until the thread ends: there may be thousands of locations

/**
 * Reads the folders of one location in one warm thread: cheaper than libuv's pool in every measure, and neither the
 * event loop nor another location is ever held up.
 */
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
  let open = 0; // lists of which the thread holds a folder open between two batches
  let idle: NodeJS.Timeout | undefined;

  function endWhenIdle(): void {
    clearTimeout(idle);
    if (waiting.size > 0) return;
    thread?.unref();
    if (open > 0) return;
    idle = setTimeout(() => {
      const ended = thread;
      thread = undefined; // the next request starts another
      void ended?.terminate();
    }, idleFor).unref();
  }
  function begin(): Worker {
    const begun = startThread('./list-thread', import.meta.url);
    begun.on('message', (told: Told) => {
      waiting.get(told.number)?.(told);
      waiting.delete(told.number);
      endWhenIdle();
    });
    const end = () => {
      if (thread !== begun) return; // its successor's questions are not its own
      thread = undefined;
      for (const [number, tell] of waiting) tell({ number, entries: [], total: 0, problem: 'EIO' });
      waiting.clear();
    };
    begun.on('error', end).on('exit', end);
    return begun;
  }
  const ask = (question: Ask) =>
    new Promise<Told>((resolve) => {
      clearTimeout(idle);
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
      open += 1;
      try {
        for (let does: 'begin' | 'next' = 'begin'; ; does = 'next') {
          const { entries, problem } = await ask({ number, does, descriptor });
          if (problem) throw storageError(failure(problem));
          if (entries.length === 0) return;
          yield entries;
        }
      } finally {
        open -= 1;
        thread?.postMessage({ number, does: 'stop', descriptor } satisfies Ask);
        endWhenIdle();
        close();
      }
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(idle);
      await thread?.terminate();
    },
  };
}
