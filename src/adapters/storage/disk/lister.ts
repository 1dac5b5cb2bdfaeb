import { idleThread } from '#adapters/os/idle-thread.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { failure, storageError } from './disk-errors.ts';
import type { ListThreadRequest, ListThreadResponse } from './list-thread.ts';

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
  const waiting = new Map<number, (told: ListThreadResponse) => void>();
  let last = 0;
  let open = 0; // lists of which the thread holds a folder open between two batches
  const restIfAnswered = () => {
    if (waiting.size === 0) thread.rest();
  };
  const thread = idleThread<ListThreadResponse>('./list-thread', import.meta.url, {
    receive(told) {
      waiting.get(told.number)?.(told);
      waiting.delete(told.number);
      restIfAnswered();
    },
    lose() {
      for (const [number, tell] of waiting) tell({ number, entries: [], total: 0, problem: 'EIO' });
      waiting.clear();
    },
    isIdle: () => waiting.size === 0 && open === 0,
  });
  const ask = (question: ListThreadRequest) =>
    new Promise<ListThreadResponse>((resolve) => {
      waiting.set(question.number, resolve);
      thread.post(question);
    });
  return {
    async page(descriptor, query) {
      last += 1;
      const { entries, total, problem } = await ask({ number: last, action: 'page', descriptor, query });
      if (problem) throw storageError(failure(problem));
      return { entries, total };
    },
    async *list(descriptor, close) {
      last += 1;
      const number = last;
      open += 1;
      try {
        for (let action: 'begin' | 'next' = 'begin'; ; action = 'next') {
          const { entries, problem } = await ask({ number, action, descriptor });
          if (problem) throw storageError(failure(problem));
          if (entries.length === 0) return;
          yield entries;
        }
      } finally {
        open -= 1;
        thread.post({ number, action: 'stop', descriptor } satisfies ListThreadRequest);
        restIfAnswered();
        close();
      }
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
