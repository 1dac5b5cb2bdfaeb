import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import type { Database } from '#ports/tables.ts';
import { ResultCache } from './result-cache.ts';
import { textLength } from './text-length.ts';

const maxStatements = 500;
const rowLimits = { results: 500, characters: 1 << 20 };

/** Small tables that most changes read and that rarely change: their rows are cached. */
const cachedTables: ReadonlySet<string> = new Set([
  'api_key',
  'api_token',
  'location',
  'login_profile',
  'operator',
  'operator_session',
  'tenant',
] as const satisfies readonly (keyof Database)[]);

/** A connection with a cache of prepared statements: preparing a statement costs more than running it. */
export interface Connection {
  readonly database: DatabaseSync;
  run(sql: string, parameters: readonly unknown[]): DriverResult;
  /** Returns the tables that may have changed since the last call, including those changed by triggers and cascades. */
  takeChangedTables(): ReadonlySet<string>;
  /** Returns all tables that a statement reads. */
  tablesRead(sql: string): readonly string[];
  /** Invalidates the cached rows of changed tables, after a rollback. */
  invalidateChanged(): void;
}

interface Options {
  readonly readOnly: boolean;
  /** Caches rows of `cachedTables`. Cached rows are shared, and therefore frozen. Every change must run on this connection. */
  readonly cachesRows?: boolean;
}

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  readonly changedTables: readonly string[];
  readonly readTables: readonly string[];
  /** First part of the keys of its cached rows; null: its rows are not cached. */
  readonly cacheKey: string | null;
}

const isInput = (value: unknown): value is SQLInputValue =>
  value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;

/** Returns whether the JSON text of these values is unique, so that it can be part of a cache key. */
const haveUniqueJson = (values: readonly unknown[]) =>
  values.every((value) => value === null || typeof value === 'string' || Number.isSafeInteger(value));

/**
 * Returns whether the rows that a statement reads from these tables can be cached. The statement must not use the time
 * or random values.
 */
const canCache = (tables: readonly string[]) => tables.length > 0 && tables.every((table) => cachedTables.has(table));

export const areSqlInputs = (values: readonly unknown[]): values is readonly SQLInputValue[] => values.every(isInput);

const changeActions: readonly number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Opens a connection to a database file. In WAL mode, a `readOnly` connection never waits for the writer. */
export function openConnection(file: string, options: Options): Connection {
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: 1000 });
  database.exec('PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY');
  const statements = new Map<string, PreparedStatement>();
  const cache = options.cachesRows ? new ResultCache<unknown[]>(rowLimits) : null;
  let cacheKeys = 0;
  // Tables of the statement that is being prepared, as reported by SQLite.
  const accessedTables = { changes: new Set<string>(), reads: new Set<string>() };
  let unreportedTables = new Set<string>(); // changed since the last call of `takeChangedTables`
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
    const isCached = cache && returnsRows && changedTables.length === 0 && canCache(readTables);
    const cacheKey = isCached ? `${++cacheKeys} ` : null;
    const prepared = { statement, returnsRows, changedTables, readTables, cacheKey };
    statements.set(sql, prepared);
    return prepared;
  };
  function queryCached(key: string, tables: readonly string[], query: () => unknown[]): unknown[] {
    const entry = cache?.find(key);
    if (entry) return entry.result;
    const rows = query();
    for (const shared of [rows, ...rows]) Object.freeze(shared);
    cache?.add(key, { reads: cache.newReads(tables), result: rows }, textLength(rows));
    return rows;
  }
  return {
    database,
    run(sql, parameters) {
      if (!areSqlInputs(parameters)) throw new TypeError('a parameter has a type that SQLite does not support');
      const { statement, returnsRows, changedTables, readTables, cacheKey } = prepare(sql);
      for (const table of changedTables) unreportedTables.add(table);
      cache?.noteChanges(changedTables);
      const queryRows = () => statement.all(...parameters);
      if (cacheKey !== null && haveUniqueJson(parameters))
        return { rows: queryCached(cacheKey + JSON.stringify(parameters), readTables, queryRows), changes: 0 };
      if (returnsRows) return { rows: queryRows(), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
    takeChangedTables() {
      const tables = unreportedTables;
      unreportedTables = new Set();
      return tables;
    },
    tablesRead: (sql) => prepare(sql).readTables,
    invalidateChanged: () => cache?.noteChanges(unreportedTables),
  };
}

/** Runs a PRAGMA and returns the first value of its result. */
export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
