import { AsyncLocalStorage } from 'node:async_hooks';
import type { ReadTables } from './read-tables.ts';
import { type CachedResult, ResultCache } from './result-cache.ts';
import { textLength } from './text-length.ts';

const limits = { results: 5000, characters: 16 << 20 }; // a share may have a quarter of a million characters

/**
 * Caches the results of lookups, each of one or more queries, until a commit changes a table that one of the queries has read.
 * Safe only with a single writing process, which knows of every change.
 */
export class LookupCache {
  readonly #results = new ResultCache<Promise<unknown>>(limits);
  /** The tables that the running lookup has read so far. */
  readonly #running = new AsyncLocalStorage<ReadTables>();

  /**
   * Returns the cached result of a lookup, or runs it. All its queries must be noted by `noteReads`.
   * @param key names the lookup and its parameters
   */
  get<T>(key: string, lookup: () => Promise<T>): Promise<T> {
    const { reads, result } = this.#results.find(key) ?? this.#run(key, lookup);
    this.#running.getStore()?.include(reads);
    // The key identifies the lookup, and so the type of its result.
    return result as Promise<T>;
  }

  /** Notes a query before it runs, for the lookup that it belongs to. @param tables returns all tables that the query reads */
  noteReads(tables: () => readonly string[]): void {
    this.#running.getStore()?.add(tables());
  }

  /** Notes that a commit has changed tables. */
  noteChanges(tables: Iterable<string>): void {
    this.#results.noteChanges(tables);
  }

  #run(key: string, lookup: () => Promise<unknown>): CachedResult<Promise<unknown>> {
    const reads = this.#results.newReads();
    const running = { reads, result: this.#running.run(reads, lookup) };
    this.#results.add(key, running, 0);
    running.result.then(
      (value) => this.#results.has(key, reads) && this.#results.add(key, running, textLength(value)),
      () => this.#results.delete(key, reads),
    );
    return running;
  }
}
