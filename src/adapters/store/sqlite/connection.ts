import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Answer } from '#adapters/store/kysely-over.ts';

const cachedStatements = 500;

/** One connection with its prepared statements: preparing costs more than asking. */
export interface Connection {
  readonly database: DatabaseSync;
  run(sql: string, parameters: readonly unknown[]): Answer;
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;

export const areInputs = (values: readonly unknown[]): values is readonly SQLInputValue[] => values.every(isInput);

/** Opens a file; `readOnly` connections never wait for the writer (WAL). */
export function openConnection(file: string, options: { readonly readOnly: boolean }): Connection {
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 1000 });
  database.exec('PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY');
  const statements = new Map<string, { statement: StatementSync; reads: boolean }>();
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= cachedStatements) statements.clear();
    const statement = database.prepare(sql);
    const made = { statement, reads: statement.columns().length > 0 };
    statements.set(sql, made);
    return made;
  };
  return {
    database,
    run(sql, parameters) {
      if (!areInputs(parameters)) throw new TypeError('a parameter is none that SQLite takes');
      const { statement, reads } = prepared(sql);
      if (reads) return { rows: statement.all(...parameters), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
  };
}

/** The one value of a PRAGMA. */
export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
