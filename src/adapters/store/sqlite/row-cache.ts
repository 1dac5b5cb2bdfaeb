import type { Database } from '#ports/tables.ts';
import { textLength } from './text-length.ts';

const mostKept = 500; // answers in all
const longest = 20_000; // characters of a row: address ranges may be longer, and would fill the memory

/** Tables of few rows that are asked for at every request and changed by hand. */
const settled: ReadonlySet<string> = new Set([
  'api_key',
  'api_token',
  'location',
  'login_profile',
  'operator',
  'operator_session',
  'tenant',
] as const satisfies readonly (keyof Database)[]);

/**
 * What statements over settled tables answered, until one of their tables changes: such a statement depends on nothing
 * else, as long as nobody writes one that asks for the time or for chance. Rows that are kept are shared, and frozen.
 */
export interface RowCache {
  /** Whether it keeps what a statement answers. @param tables all that the statement reads */
  keeps(tables: readonly string[]): boolean;
  /** The rows that a statement gives for parameters: kept ones, or those that `ask` gives. */
  rows(sql: string, tables: readonly string[], parameters: readonly unknown[], ask: () => unknown[]): unknown[];
  /** Rows of these tables changed, or are again what they were. */
  forget(tables: Iterable<string>): void;
}

/** Values whose JSON is that of no other values. */
const arePlain = (values: readonly unknown[]) =>
  values.every((value) => value === null || typeof value === 'string' || Number.isSafeInteger(value));

export function rowCache(): RowCache {
  const byStatement = new Map<string, { readonly tables: readonly string[]; readonly answers: Map<string, unknown[]> }>();
  let total = 0;
  function keep(sql: string, tables: readonly string[], key: string, rows: unknown[]): void {
    if (rows.length > 1 || textLength(rows) > longest) return; // lists of rows are queried rarely and take much memory
    if (total >= mostKept) byStatement.clear();
    total = byStatement.size === 0 ? 1 : total + 1;
    for (const shared of [rows, ...rows]) Object.freeze(shared);
    const kept = byStatement.get(sql) ?? { tables, answers: new Map() };
    byStatement.set(sql, kept);
    kept.answers.set(key, rows);
  }
  return {
    keeps: (tables) => tables.length > 0 && tables.every((table) => settled.has(table)),
    rows(sql, tables, parameters, ask) {
      if (!arePlain(parameters)) return ask();
      const key = JSON.stringify(parameters);
      const known = byStatement.get(sql)?.answers.get(key);
      if (known) return known;
      const rows = ask();
      keep(sql, tables, key, rows);
      return rows;
    },
    forget(changed) {
      for (const table of changed)
        if (settled.has(table))
          for (const [sql, { tables, answers }] of byStatement)
            if (tables.includes(table) && byStatement.delete(sql)) total -= answers.size;
    },
  };
}
