import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import { SearchThread } from './search-thread-client.ts';

/**
 * The threads that run long queries, so that these do not block the event loop. Each thread starts
 * with its first query.
 */
export interface SearchThreads {
  /** The only thread that searches for words in memory. */
  readonly words: SearchThread;
  /** Runs the queries of reports, such as the overview. */
  readonly reports: SearchThread;
  readonly all: readonly SearchThread[];
  /** Runs a query in the less busy one of two threads. */
  readonly run: RunQuery;
  /**
   * Runs a query that may take seconds, such as a search of the audit log. Does not delay the
   * queries of `run`.
   */
  readonly runLong: RunQuery;
}

/**
 * Returns a thread: prefers one without a long query, then the one with fewer queries, then the
 * first one.
 */
const leastBusy = (threads: readonly [SearchThread, SearchThread]): SearchThread => {
  const [first, second] = threads;
  const longRequestDifference = Number(first.hasLongRequest()) - Number(second.hasLongRequest());
  return (longRequestDifference || first.pendingCount - second.pendingCount) > 0 ? second : first;
};

/**
 * Returns the threads. None is started yet.
 * @param maxBytes memory for the texts that word searches read; 0: each search reads them from the
 *   database
 * @param onFailure called with the error of each request that fails in a thread
 */
export function createSearchThreads(file: string, maxBytes: number, onFailure: (cause: unknown) => void): SearchThreads {
  const threadFor = (bytes: number) => new SearchThread({ file, maxBytes: bytes }, onFailure);
  const [words, second, reports] = [threadFor(maxBytes), threadFor(0), threadFor(0)];
  // Two threads, because a tenant runs one search at a time: the long search of one tenant leaves
  // the other thread to other tenants.
  const longSearches = [threadFor(0), threadFor(0)] as const;
  return {
    ...{ words, reports, all: [words, second, reports, ...longSearches] },
    // The thread that searches for words in memory takes other queries only if the thread `second` is busier.
    run: (text, parameters) => leastBusy([second, words]).query(text, parameters),
    runLong: (text, parameters) => leastBusy(longSearches).query(text, parameters),
  };
}
