import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { rowCache } from './row-cache.ts';

const maxStatements = 500;

/** A connection with a cache of prepared statements: preparing a statement costs more than running it. */
export interface Connection {
  readonly database: DatabaseSync;
  run(sql: string, parameters: readonly unknown[]): DriverResult;
  /** Returns the tables that changed since the last call, including those changed by triggers and cascades. */
  takeChangedTables(): ReadonlySet<string>;
  /** Invalidates the cached rows of those tables, after a rollback. */
  invalidateChanged(): void;
  /** Invalidates the cached rows of tables that another connection changed. */
  invalidate(tables: ReadonlySet<string>): void;
}

interface Options {
  readonly readOnly: boolean;
  /** Caches rows of reference tables. Every change must run on this connection or be passed to `forget`. */
  readonly cachesRows?: boolean;
}

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  readonly changedTables: readonly string[];
  /** The tables that it reads, if its rows can be cached; else null. */
  readonly cachedTables: readonly string[] | null;
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;

export const areSqlInputs = (values: readonly unknown[]): values is readonly SQLInputValue[] => values.every(isInput);

const changeActions: readonly number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Opens a connection to a database file. In WAL mode, a `readOnly` connection never waits for the writer. */
export function openConnection(file: string, options: Options): Connection {
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 1000 });
  database.exec('PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY');
  const statements = new Map<string, PreparedStatement>();
  const cache = options.cachesRows ? rowCache() : null;
  // Tables of the statement that is being prepared, as reported by SQLite.
  const accessedTables = { changes: new Set<string>(), reads: new Set<string>() };
  let unreported = new Set<string>(); // changed tables since the last call of `changed`
  if (cache || !options.readOnly)
    database.setAuthorizer((action, table) => {
      if (table !== null && changeActions.includes(action)) accessedTables.changes.add(table);
      if (table !== null && action === constants.SQLITE_READ) accessedTables.reads.add(table);
      return constants.SQLITE_OK;
    });
  const prepare = (sql: string): PreparedStatement => {
    const existing = statements.get(sql);
    if (existing) return existing;
    if (statements.size >= maxStatements) statements.clear();
    accessedTables.changes.clear();
    accessedTables.reads.clear();
    const statement = database.prepare(sql);
    const [changedTables, readTables] = [[...accessedTables.changes], [...accessedTables.reads]];
    const returnsRows = statement.columns().length > 0;
    const cachedTables = returnsRows && changedTables.length === 0 && cache?.canCache(readTables) ? readTables : null;
    const prepared = { statement, returnsRows, changedTables, cachedTables };
    statements.set(sql, prepared);
    return prepared;
  };
  return {
    database,
    run(sql, parameters) {
      if (!areSqlInputs(parameters)) throw new TypeError('a parameter has a type that SQLite does not support');
      const { statement, returnsRows, changedTables, cachedTables } = prepare(sql);
      for (const table of changedTables) unreported.add(table);
      cache?.invalidate(changedTables);
      const queryRows = () => statement.all(...parameters);
      if (cache && cachedTables) return { rows: cache.rows(sql, cachedTables, parameters, queryRows), changes: 0 };
      if (returnsRows) return { rows: queryRows(), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
    takeChangedTables() {
      const tables = unreported;
      unreported = new Set();
      return tables;
    },
    invalidateChanged: () => cache?.invalidate(unreported),
    invalidate: (tables) => cache?.invalidate(tables),
  };
}

/** Runs a PRAGMA and returns its single value. */
export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
