import type { Database } from '#ports/tables.ts';

const mostKept = 1000; // answers of one statement

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

/** What statements over settled tables answered, until one of their tables changes. */
export interface KeptRows {
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

export function keptRows(): KeptRows {
  const byStatement = new Map<string, { readonly tables: readonly string[]; readonly answers: Map<string, unknown[]> }>();
  return {
    keeps: (tables) => tables.length > 0 && tables.every((table) => settled.has(table)),
    rows(sql, tables, parameters, ask) {
      if (!arePlain(parameters)) return ask();
      const kept = byStatement.get(sql) ?? { tables, answers: new Map() };
      byStatement.set(sql, kept);
      const key = JSON.stringify(parameters);
      const known = kept.answers.get(key);
      if (known) return known;
      const rows = ask();
      for (const row of rows) Object.freeze(row); // many will read it
      if (kept.answers.size >= mostKept) kept.answers.clear();
      kept.answers.set(key, rows);
      return rows;
    },
    forget(changed) {
      for (const table of changed)
        if (settled.has(table)) for (const { tables, answers } of byStatement.values()) if (tables.includes(table)) answers.clear();
    },
  };
}
