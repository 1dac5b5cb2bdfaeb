import type { Kysely, RawBuilder, SqlBool } from 'kysely';
import type { SearchPage, SearchQuery } from './search.ts';
import type { LastIds } from './snapshot.ts';
import type { Database } from './tables.ts';

/** Where a change's queries run; it awaits nothing else. */
export type Tx = Kysely<Database>;

/** What the engines say differently; features stay on what they share. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Was this error a row that another row's uniqueness forbids? */
  isUniqueViolation(error: unknown): boolean;
  /** A folded word in a column of folded texts, in any script: code points are compared. */
  holds(column: string, word: string): RawBuilder<SqlBool>;
  /** The database's own time, ms since the epoch: what processes on several machines compare is measured by one clock. */
  readonly now: RawBuilder<number>;
  /** The column that names a row of any table for as long as a statement runs. */
  readonly rowId: string;
  /** Numbers that were given out elsewhere are given out no more. */
  setLastIds(tx: Tx, ids: LastIds): Promise<void>;
}

/**
 * Whose turn a change takes: of a tenant's integrators and operators, of the visitors of a wide network, of the attempts
 * to sign in of a network, or of our own jobs, which no client causes.
 */
export type WriteTurn = { readonly tenant: number } | { readonly visitor: string } | { readonly network: string } | 'job';

export interface WriteOptions {
  /** Undoes the change after it has run. */
  readonly dryRun?: boolean;
}

/** The database. What it answers as changed is on disk. */
export interface Store {
  /** Short questions. */
  readonly read: Kysely<Database>;
  /** Questions that may take longer: they hold up nobody else. */
  readonly search: Kysely<Database>;
  /** Questions that read a whole history, such as counts by day: they hold up no search. */
  readonly reports: Kysely<Database>;
  /** For records of one tenant that take long to read, such as shares with thousands of names: tenants take turns. */
  longRecords(tid: number): Kysely<Database>;
  /** How many of one tenant's searches may run at once, so that those of others need not wait for them. */
  readonly searchesOfOneTenant: number;
  /** A page of a search; it holds up nobody else either. */
  find(search: SearchQuery): Promise<SearchPage>;
  readonly dialect: Dialect;
  /** May other processes change the same database? */
  readonly shared: boolean;
  /**
   * Runs a change in a transaction of its own and answers when it is on disk; a refusal, too, is answered only then,
   * since it may speak of what others have changed. The change awaits nothing but `tx`, and may be run twice.
   */
  write<T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions): Promise<T>;
  /**
   * Asks once, and answers the same until a change of more than the trail (trail-tables.ts) is committed: for what is
   * asked at every request, and depends on nothing that the trail holds. What depends on the clock is decided by the
   * caller, on what was answered.
   */
  cachedUntilChange<T>(key: string, ask: () => Promise<T>): Promise<T>;
  /** All that was visible before the call is on disk after it. */
  durable(): Promise<void>;
  /** Runs `work` while no other work of that key runs, in any process on the same database. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Answers as long as the database does. */
  check(): Promise<void>;
  /** Tells this database from one that was put in its place since. */
  identity(): Promise<string>;
  /** Has another process opened it now? */
  isUsedByOthers(): Promise<boolean>;
  /**
   * Is its disk full? Then only what has to be recorded is still written (features/room.ts).
   * @param leaving bytes that are to stay free, where the disk is ours
   */
  isFull(leaving?: number): boolean;
  /** Were damaged pages found in it? */
  isDamaged(): boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The database's disk is full: the change did not take place. */
export class StoreFull extends Error {}

/** The database does not answer: whether a change took place is not known. */
export class StoreAway extends Error {}

/** The database can neither hold nor look up such a value: a request sent what no record has. */
export class ValueRefused extends Error {}
