import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import { SearchThread } from './search-thread-client.ts';

/** The threads that run long queries, so that the event loop does not. Each starts with its first query. */
export interface SearchThreads {
  /** The only thread that searches for words. */
  readonly words: SearchThread;
  readonly reports: SearchThread;
  readonly all: readonly SearchThread[];
  /** Runs a query in a thread that has few others to run. */
  readonly run: RunQuery;
  /** Runs a query that may take seconds, such as a search of the audit log. It delays none that `run` gets. */
  readonly runLong: RunQuery;
}

/** Returns the thread where a query waits least: one without a long query, and with few others. The first one if they are equal. */
const leastBusy = (threads: readonly [SearchThread, SearchThread]): SearchThread => {
  const [first, second] = threads;
  const longRequestDifference = Number(first.hasLongRequest()) - Number(second.hasLongRequest());
  return (longRequestDifference || first.pendingCount - second.pendingCount) > 0 ? second : first;
};

/**
 * Returns the threads. None is started yet.
 * @param maxBytes for the texts that word searches read; 0: each search reads them from the database
 * @param onFailure called when a query fails
 */
export function createSearchThreads(file: string, maxBytes: number, onFailure: (cause: unknown) => void): SearchThreads {
  const threadFor = (bytes: number) => new SearchThread({ file, maxBytes: bytes }, onFailure);
  const [words, second, reports] = [threadFor(maxBytes), threadFor(0), threadFor(0)];
  // Two: a tenant runs one search at a time, so its long search leaves the other thread free for other tenants.
  const longSearches = [threadFor(0), threadFor(0)] as const;
  return {
    ...{ words, reports, all: [words, second, reports, ...longSearches] },
    // The thread that searches for words takes other queries only if the second one is busier.
    run: (text, parameters) => leastBusy([second, words]).query(text, parameters),
    runLong: (text, parameters) => leastBusy(longSearches).query(text, parameters),
  };
}
