import type { Database } from '#ports/tables.ts';
import { textLength } from './text-length.ts';

const maxEntries = 5000;
const maxCharacters = 16 << 20; // of all results together: a share may have a quarter of a million
const maxKeyLength = 512; // characters; longer keys come from requests, and would fill the memory

/** Tables that record events. No cached result depends on them, so a recorded visit does not invalidate the cache. */
const auditTables = ['audit', 'ongoing', 'alert', 'alert_list', 'unsettled'] as const satisfies readonly (keyof Database)[];
const ignoredTables: ReadonlySet<string> = new Set([...auditTables, 'sqlite_sequence']);

/**
 * Caches query results until a commit changes a table other than those of the audit log. Safe only with a single writing
 * process, which knows of every change.
 */
export interface QueryCache {
  /** Returns the cached result for a key, or runs the query. */
  get<T>(key: string, query: () => Promise<T>): Promise<T>;
  /** Invalidates the cache after a commit that changed these tables. */
  invalidate(changed: ReadonlySet<string>): void;
}

export function queryCache(): QueryCache {
  const cache = new Map<string, Promise<unknown>>();
  let characters = 0;
  function clear(): void {
    cache.clear();
    characters = 0;
  }
  /** Adds the size of a result that is still cached. If the cache is too large then, clears all of it, as a change does. */
  function addSize(key: string, result: Promise<unknown>, value: unknown): void {
    if (cache.get(key) !== result) return;
    characters += textLength(value);
    if (characters > maxCharacters) clear();
  }
  return {
    get<T>(key: string, query: () => Promise<T>): Promise<T> {
      if (key.length > maxKeyLength) return query();
      const cached = cache.get(key);
      // The key identifies the query, and so the type of its result.
      if (cached) return cached as Promise<T>;
      const result = query();
      if (cache.size >= maxEntries) clear();
      cache.set(key, result);
      result.then(
        (value) => addSize(key, result, value),
        () => cache.delete(key),
      );
      return result;
    },
    invalidate(changed) {
      if (!changed.isSubsetOf(ignoredTables)) clear();
    },
  };
}
