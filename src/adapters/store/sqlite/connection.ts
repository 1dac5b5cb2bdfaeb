import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Answer } from '#adapters/store/kysely-over.ts';

const cachedStatements = 500;

/** One connection with its prepared statements: preparing costs more than asking. */
export interface Connection {
  readonly database: DatabaseSync;
  run(sql: string, parameters: readonly unknown[]): Answer;
  /** The tables that were changed since this was asked last, by triggers and cascades too. */
  changed(): ReadonlySet<string>;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly reads: boolean;
  /** Tables that it changes. */
  readonly changes: readonly string[];
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;

export const areInputs = (values: readonly unknown[]): values is readonly SQLInputValue[] => values.every(isInput);

const changing: readonly number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Opens a file; `readOnly` connections never wait for the writer (WAL). */
export function openConnection(file: string, options: { readonly readOnly: boolean }): Connection {
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 1000 });
  database.exec('PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY');
  const statements = new Map<string, Prepared>();
  const told = new Set<string>(); // by SQLite, of the statement that is being prepared
  let changed = new Set<string>();
  if (!options.readOnly)
    database.setAuthorizer((action, table) => {
      if (table !== null && changing.includes(action)) told.add(table);
      return constants.SQLITE_OK;
    });
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= cachedStatements) statements.clear();
    told.clear();
    const statement = database.prepare(sql);
    const made = { statement, reads: statement.columns().length > 0, changes: [...told] };
    statements.set(sql, made);
    return made;
  };
  return {
    database,
    run(sql, parameters) {
      if (!areInputs(parameters)) throw new TypeError('a parameter is none that SQLite takes');
      const { statement, reads, changes } = prepared(sql);
      for (const table of changes) changed.add(table);
      if (reads) return { rows: statement.all(...parameters), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
    changed() {
      const tables = changed;
      changed = new Set();
      return tables;
    },
  };
}

/** The one value of a PRAGMA. */
export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
