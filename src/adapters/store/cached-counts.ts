import type { CompiledQuery } from 'kysely';
import { setNewest } from '#core/newest.ts';

const mostKept = 500;

/** Counts that were made once: the other pages of a search, and the same in another order, need not count again. */
export interface CachedCounts {
  /** @param version another one as soon as the count may be another; null: it is made each time */
  of(version: string | null, counting: CompiledQuery, count: () => Promise<number>): Promise<number>;
}

export function cachedCounts(): CachedCounts {
  const kept = new Map<string, { readonly version: string; readonly total: Promise<number> }>();
  return {
    async of(version, { sql, parameters }, count) {
      if (version === null) return count();
      const key = JSON.stringify([sql, parameters]);
      const known = kept.get(key);
      const total = known?.version === version ? known.total : count();
      setNewest(kept, key, { version, total }, mostKept);
      total.catch(() => kept.delete(key));
      return total;
    },
  };
}
