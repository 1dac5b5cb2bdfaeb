import type { Compilable } from 'kysely';

const mostKept = 500;

/** Counts that were made once: the other pages of a search, and the same in another order, need not count again. */
export interface KeptCounts {
  /** @param version another one as soon as the count may be another; null: it is made each time */
  of(version: string | null, counting: Compilable, count: () => Promise<number>): Promise<number>;
}

export function keptCounts(): KeptCounts {
  const kept = new Map<string, { readonly version: string; readonly total: Promise<number> }>();
  return {
    async of(version, counting, count) {
      if (version === null) return count();
      const { sql, parameters } = counting.compile();
      const key = JSON.stringify([sql, parameters]);
      const known = kept.get(key);
      kept.delete(key); // the newest stands last
      const total = known?.version === version ? known.total : count();
      kept.set(key, { version, total });
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      total.catch(() => kept.delete(key));
      return total;
    },
  };
}
