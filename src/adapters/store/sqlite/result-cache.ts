import { LRUCache } from 'lru-cache';
import { ReadTables, TableVersions } from './read-tables.ts';

const maxKeyLength = 512; // characters; longer keys come from requests, and would fill the memory

interface Limits {
  /** Number of results. */
  readonly results: number;
  /** Characters in all results together. */
  readonly characters: number;
}

/** A result, and the tables that it was read from. */
export interface CachedResult<T> {
  readonly reads: ReadTables;
  readonly result: T;
}

/** Caches results until a table that they were read from changes. Evicts the least recently used ones. */
export class ResultCache<T> {
  readonly #versions = new TableVersions();
  readonly #results: LRUCache<string, CachedResult<T>>;

  constructor({ results, characters }: Limits) {
    this.#results = new LRUCache({ max: results, maxSize: characters });
  }

  /** Returns the result that is cached for a key, or null if there is none or a table that it was read from has changed. */
  find(key: string): CachedResult<T> | null {
    const cached = this.#results.get(key);
    return cached?.reads.isCurrent() ? cached : null;
  }

  /**
   * Returns the `ReadTables` of a new result.
   * @param tables the first tables that the result is read from; others may be added later, before they are read
   */
  newReads(tables: readonly string[] = []): ReadTables {
    return new ReadTables(this.#versions, tables);
  }

  /** Caches a result. @param length characters in it; if a result is added again, its new length replaces the earlier one */
  add(key: string, { reads, result }: CachedResult<T>, length: number): void {
    if (key.length <= maxKeyLength) this.#results.set(key, { reads, result }, { size: 1 + length });
  }

  /** Returns whether a result is still in the cache. */
  has(key: string, reads: ReadTables): boolean {
    return this.#results.peek(key)?.reads === reads;
  }

  /** Deletes a result if it is still in the cache. */
  delete(key: string, reads: ReadTables): void {
    if (this.has(key, reads)) this.#results.delete(key);
  }

  noteChanges(tables: Iterable<string>): void {
    this.#versions.noteChanges(tables);
  }
}
