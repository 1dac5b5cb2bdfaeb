import type { Kysely, RawBuilder, SqlBool } from 'kysely';
import type { LastIds } from './last-ids.ts';
import type { SearchPage, SearchQuery } from './search.ts';
import type { Database } from './tables.ts';

/** Runs queries, in the transaction of a change or outside of one. A change must await nothing but its queries. */
export type Tx = Kysely<Database>;

/** The SQL that differs between the engines. Features otherwise use SQL that both engines understand. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Returns whether an error is a violation of a unique constraint. */
  isUniqueViolation(error: unknown): boolean;
  /** Returns a condition: the folded texts of a column contain a folded word. It compares code points, so it works for every script. */
  containsWord(column: string, word: string): RawBuilder<SqlBool>;
  /** Current time of the database in milliseconds since the epoch. Processes on several machines compare times of this one clock. */
  readonly now: RawBuilder<number>;
  /** The column that identifies a row in every table. Its values are only valid within one statement. */
  readonly rowId: string;
  /** Sets the highest assigned ids, so that the tables do not assign these ids again. */
  setLastIds(tx: Tx, ids: LastIds): Promise<void>;
}

/**
 * The group whose turn a change uses. Groups take turns: the integrators and operators of a tenant, the visitors of a wide network, the
 * sign-in attempts of a wide network, and Postern itself, such as its scheduled jobs (`job`). On PostgreSQL, `job` needs no turn.
 */
export type WriteTurn = { readonly tenant: number } | { readonly visitor: string } | { readonly network: string } | 'job';

export interface WriteOptions {
  /** Rolls the change back after it has run. */
  readonly dryRun?: boolean;
}

/** The database. A change that it confirms is on disk. */
export interface Store {
  /** For short queries. */
  readonly read: Kysely<Database>;
  /** For queries that may take long. They do not delay short queries. */
  readonly search: Kysely<Database>;
  /** For queries that read an entire table, such as counts of mails, or of audit entries by day. They do not delay searches. */
  readonly reports: Kysely<Database>;
  /** Returns a connection for records that take long to read, such as shares with thousands of names. Tenants take turns. */
  longRecordReader(tid: number): Kysely<Database>;
  /** Maximum number of concurrent searches of one tenant, so that other tenants need not wait for them. */
  readonly maxSearchesPerTenant: number;
  /** Returns a page of a search. It does not delay short queries. */
  searchPage(query: SearchQuery): Promise<SearchPage>;
  readonly dialect: Dialect;
  /** Whether other processes may change the same database. */
  readonly isShared: boolean;
  /**
   * Runs a change in its own transaction and resolves when the change is on disk. If the change is refused, rejects only when
   * earlier changes are on disk, since the refusal may depend on them.
   * @param change must await nothing but `tx`, and may be run more than once
   */
  write<T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions): Promise<T>;
  /**
   * Returns the result of `query`. SQLite caches it until a commit changes a table that `query` has read through this store; PostgreSQL
   * caches nothing, since other processes may change the database. Use it for queries that run at every request. The query must not depend
   * on the time: the caller compares times of the cached result with the clock.
   * @param key names the query and its parameters
   */
  cachedUntilChange<T>(key: string, query: () => Promise<T>): Promise<T>;
  /**
   * Runs work whose queries take the turns of the server itself instead of those of the client's network. Use it for
   * work that holds a turn for which others wait.
   */
  inOwnTurns<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until all changes that were visible before the call are on disk. */
  sync(): Promise<void>;
  /** Runs `work` under an exclusive lock on each of the keys, which applies to all processes on the same database. */
  withLocks<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Checks that the database answers and, on PostgreSQL, that it accepts changes. */
  check(): Promise<void>;
  /**
   * Returns the id of the database. On PostgreSQL, a database that replaces this one has another id. With SQLite the id is the folder,
   * since no other process can use the database.
   */
  databaseId(): Promise<string>;
  /** Returns whether another process is connected to the database now. */
  isUsedByOthers(): Promise<boolean>;
  /**
   * Returns whether the disk of the database is full. If so, the remaining space is reserved for the audit entries of downloads and for
   * sign-ins (features/health/check-store-space.ts).
   * @param minFree bytes that must stay free; PostgreSQL ignores it, since the disk is that of its server
   */
  isFull(minFree?: number): boolean;
  /** Returns whether damaged pages were found in the database. Always false on PostgreSQL, whose server checks its own disk. */
  isDamaged(): boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The disk of the database is full. The change did not take place. */
export class StoreFull extends Error {}

/** The database does not respond, or refuses changes. It is unknown whether a change took place. */
export class StoreUnavailable extends Error {}

/** Returns whether an error means that the database cannot be used at present. Another attempt may succeed later. */
export const isTemporaryStoreError = (cause: unknown): boolean => cause instanceof StoreUnavailable || cause instanceof StoreFull;

/** The database can neither store nor look up a value of the request, so no record can have it. */
export class InvalidValue extends Error {}
