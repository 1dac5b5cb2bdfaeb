import type { Database } from '#ports/tables.ts';
import { textLength } from './text-length.ts';

const maxResults = 500;
const maxLength = 20_000; // characters of a row: long lists of address ranges would fill the memory

/** Tables of few rows that every request reads and that change only by hand. */
const referenceTables: ReadonlySet<string> = new Set([
  'api_key',
  'api_token',
  'location',
  'login_profile',
  'operator',
  'operator_session',
  'tenant',
] as const satisfies readonly (keyof Database)[]);

/**
 * Caches the results of statements that read only reference tables, until one of these tables changes. Such a statement
 * must not use the current time or random values. Cached rows are shared, and therefore frozen.
 */
export interface RowCache {
  /** Returns whether the results of a statement are cached. @param tables all tables that the statement reads */
  canCache(tables: readonly string[]): boolean;
  /** Returns the cached rows of a statement with these parameters, or those that `query` returns. */
  rows(sql: string, tables: readonly string[], parameters: readonly unknown[], query: () => unknown[]): unknown[];
  /** Invalidates the results that read these tables, after a change or its rollback. */
  invalidate(tables: Iterable<string>): void;
}

/** Returns whether the values have a JSON text that no other values have. */
const haveUniqueJson = (values: readonly unknown[]) =>
  values.every((value) => value === null || typeof value === 'string' || Number.isSafeInteger(value));

export function rowCache(): RowCache {
  const byStatement = new Map<string, { readonly tables: readonly string[]; readonly results: Map<string, unknown[]> }>();
  let total = 0;
  function add(sql: string, tables: readonly string[], key: string, rows: unknown[]): void {
    if (rows.length > 1 || textLength(rows) > maxLength) return; // lists of rows are queried rarely and take much memory
    if (total >= maxResults) byStatement.clear();
    total = byStatement.size === 0 ? 1 : total + 1;
    for (const shared of [rows, ...rows]) Object.freeze(shared);
    const cached = byStatement.get(sql) ?? { tables, results: new Map() };
    byStatement.set(sql, cached);
    cached.results.set(key, rows);
  }
  return {
    canCache: (tables) => tables.length > 0 && tables.every((table) => referenceTables.has(table)),
    rows(sql, tables, parameters, query) {
      if (!haveUniqueJson(parameters)) return query();
      const key = JSON.stringify(parameters);
      const cached = byStatement.get(sql)?.results.get(key);
      if (cached) return cached;
      const rows = query();
      add(sql, tables, key, rows);
      return rows;
    },
    invalidate(changed) {
      for (const table of changed)
        if (referenceTables.has(table))
          for (const [sql, { tables, results }] of byStatement)
            if (tables.includes(table) && byStatement.delete(sql)) total -= results.size;
    },
  };
}
