import type { RunQuery } from '#adapters/store/kysely-driver.ts';
import { SearchThread } from './searcher.ts';

/** The threads that run long queries, so that the event loop does not. */
export interface SearchThreads {
  /** The only thread that searches words. */
  readonly words: SearchThread;
  readonly reports: SearchThread;
  readonly all: readonly SearchThread[];
  /** Runs a query in a thread that has few others to run. */
  readonly run: RunQuery;
}

/**
 * Starts the threads.
 * @param maxBytes for the texts that word searches read; 0: each search reads them from the database
 * @param onFailure called when a query fails
 */
export function startSearchThreads(file: string, maxBytes: number, onFailure: (cause: unknown) => void): SearchThreads {
  const words = new SearchThread({ file, maxBytes }, onFailure);
  const [second, reports] = [new SearchThread({ file, maxBytes: 0 }, onFailure), new SearchThread({ file, maxBytes: 0 }, onFailure)];
  // The thread that searches words takes other queries only if the second one is busier.
  const run: RunQuery = (text, parameters) => (second.pendingCount > words.pendingCount ? words : second).query(text, parameters);
  return { words, reports, all: [words, second, reports], run };
}
