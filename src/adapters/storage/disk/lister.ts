import { idleThread } from '#adapters/os/idle-thread.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { errorWithCode, toStorageError } from './disk-errors.ts';
import type { ListThreadRequest, ListThreadResponse } from './list-thread.ts';

/**
 * Reads the folders of one location in one thread that stays warm. In all measurements this was cheaper than the thread pool of
 * libuv, and it blocks neither the event loop nor other locations.
 */
export interface Lister extends AsyncDisposable {
  /** Returns the entries in batches. Calls `close` at the end, or when the reader stops early. */
  list(descriptor: number, close: () => void): AsyncIterable<readonly Entry[]>;
  /** Returns one page, which the thread reads and sorts. */
  page(descriptor: number, query: ListingQuery): Promise<ListingPage>;
}

/** Returns a lister. Its thread starts with the first request. */
export function folderLister(): Lister {
  const pending = new Map<number, (response: ListThreadResponse) => void>(); // by number of the request
  let lastNumber = 0;
  let openLists = 0; // lists whose folder the thread holds open between two batches
  const restIfAnswered = () => {
    if (pending.size === 0) thread.startIdleTimer();
  };
  const thread = idleThread<ListThreadResponse>('./list-thread', import.meta.url, {
    receive(response) {
      pending.get(response.number)?.(response);
      pending.delete(response.number);
      restIfAnswered();
    },
    rejectPending() {
      for (const [number, resolve] of pending) resolve({ number, entries: [], total: 0, problem: 'EIO' });
      pending.clear();
    },
    isIdle: () => pending.size === 0 && openLists === 0,
  });
  const send = (request: ListThreadRequest) =>
    new Promise<ListThreadResponse>((resolve) => {
      pending.set(request.number, resolve);
      thread.post(request);
    });
  return {
    async page(descriptor, query) {
      lastNumber += 1;
      const { entries, total, problem } = await send({ number: lastNumber, action: 'page', descriptor, query });
      if (problem) throw toStorageError(errorWithCode(problem));
      return { entries, total };
    },
    async *list(descriptor, close) {
      lastNumber += 1;
      const number = lastNumber;
      openLists += 1;
      try {
        for (let action: 'begin' | 'next' = 'begin'; ; action = 'next') {
          const { entries, problem } = await send({ number, action, descriptor });
          if (problem) throw toStorageError(errorWithCode(problem));
          if (entries.length === 0) return;
          yield entries;
        }
      } finally {
        openLists -= 1;
        thread.post({ number, action: 'stop', descriptor } satisfies ListThreadRequest);
        restIfAnswered();
        close();
      }
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
