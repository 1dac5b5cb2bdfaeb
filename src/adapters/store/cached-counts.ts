import type { CompiledQuery } from 'kysely';
import { setAndEvict } from '#core/bounded-map.ts';

const maxCached = 500;

/** Caches counts: the other pages of a search, and the same search in another order, need not count again. */
export interface CachedCounts {
  /**
   * Returns the cached count of a query, or calls `count`.
   * @param version changes whenever the count may have changed; null: the count is not cached
   */
  count(version: string | null, query: CompiledQuery, count: () => Promise<number>): Promise<number>;
}

export function cachedCounts(): CachedCounts {
  const cache = new Map<string, { readonly version: string; readonly total: Promise<number> }>();
  return {
    async count(version, { sql, parameters }, count) {
      if (version === null) return count();
      const key = JSON.stringify([sql, parameters]);
      const cached = cache.get(key);
      const total = cached?.version === version ? cached.total : count();
      setAndEvict(cache, key, { version, total }, maxCached);
      total.catch(() => cache.get(key)?.total === total && cache.delete(key));
      return total;
    },
  };
}
