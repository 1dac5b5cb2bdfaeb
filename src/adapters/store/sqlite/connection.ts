import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { rowCache } from './row-cache.ts';

const cachedStatements = 500;

/** One connection with its prepared statements: preparing costs more than asking. */
export interface Connection {
  readonly database: DatabaseSync;
  run(sql: string, parameters: readonly unknown[]): DriverResult;
  /** The tables that were changed since this was asked last, by triggers and cascades too. */
  changed(): ReadonlySet<string>;
  /** What was changed since then was undone. */
  undone(): void;
  /** Another connection changed these tables: asked of one that keeps rows. */
  forget(tables: ReadonlySet<string>): void;
}

interface Options {
  readonly readOnly: boolean;
  /** Keeps the rows of settled tables; every change is its own, or it is told of it. */
  readonly keepsRows?: boolean;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly reads: boolean;
  /** Tables that it changes. */
  readonly changes: readonly string[];
  /** Tables that it reads, where their rows are kept; else null. */
  readonly keptOf: readonly string[] | null;
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;

export const areInputs = (values: readonly unknown[]): values is readonly SQLInputValue[] => values.every(isInput);

const changing: readonly number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Opens a file; `readOnly` connections never wait for the writer (WAL). */
export function openConnection(file: string, options: Options): Connection {
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 1000 });
  database.exec('PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY');
  const statements = new Map<string, Prepared>();
  const kept = options.keepsRows ? rowCache() : null;
  // By SQLite, of the statement that is being prepared.
  const told = { changes: new Set<string>(), reads: new Set<string>() };
  let changed = new Set<string>();
  if (kept || !options.readOnly)
    database.setAuthorizer((action, table) => {
      if (table !== null && changing.includes(action)) told.changes.add(table);
      if (table !== null && action === constants.SQLITE_READ) told.reads.add(table);
      return constants.SQLITE_OK;
    });
  const prepared = (sql: string): Prepared => {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= cachedStatements) statements.clear();
    told.changes.clear();
    told.reads.clear();
    const statement = database.prepare(sql);
    const [changes, read] = [[...told.changes], [...told.reads]];
    const reads = statement.columns().length > 0;
    const keptOf = reads && changes.length === 0 && kept?.keeps(read) ? read : null;
    const made = { statement, reads, changes, keptOf };
    statements.set(sql, made);
    return made;
  };
  return {
    database,
    run(sql, parameters) {
      if (!areInputs(parameters)) throw new TypeError('a parameter is none that SQLite takes');
      const { statement, reads, changes, keptOf } = prepared(sql);
      for (const table of changes) changed.add(table);
      kept?.forget(changes);
      const all = () => statement.all(...parameters);
      if (kept && keptOf) return { rows: kept.rows(sql, keptOf, parameters, all), changes: 0 };
      if (reads) return { rows: all(), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
    changed() {
      const tables = changed;
      changed = new Set();
      return tables;
    },
    undone: () => kept?.forget(changed),
    forget: (tables) => kept?.forget(tables),
  };
}

/** The one value of a PRAGMA. */
export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
