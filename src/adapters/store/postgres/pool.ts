import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { StoreAway } from '#ports/store.ts';
import { storeError } from './errors.ts';

const connectWithin = 4000; // ms
const mostPrepared = 500; // statements of one connection that the server keeps planned
const mostOfPrepared = 250; // parameters of such a statement
const [bigint, numeric] = [20, 1700];

/** Connections to one server. */
export interface Connections {
  /** Works with any free one; one that was lost meanwhile is not used again. @throws StoreAway */
  with<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Asks one of them. @throws StoreAway, StoreFull, and what the server says */
  ask(client: pg.PoolClient, sql: string, parameters?: readonly unknown[]): Promise<DriverResult>;
  /** Says one or more commands in one message. @throws as `ask` */
  say(client: pg.PoolClient, commands: string): Promise<void>;
  close(): Promise<void>;
}

/** Counts and times stay below 2^53; PostgreSQL calls them bigint, and a sum of them numeric. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === bigint || type === numeric ? Number : pg.types.getTypeParser(type, format),
};

const told = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((cause: unknown) => {
    throw storeError(cause);
  });

/** The connections of this process, among all that pg_stat_activity lists. */
export const applicationName = `postern ${randomBytes(4).toString('hex')}`;

/**
 * @param most how many at once
 * @param patience ms that one statement may take; null: as long as it takes
 * @param options settings of the server for these connections, such as `-c jit=off`
 */
export function openPool(url: string, most: number, patience: number | null, options = ''): Connections {
  const pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: connectWithin,
    idleTimeoutMillis: 60_000,
    // The second is for a server that is gone without a word.
    ...(patience === null ? {} : { statement_timeout: patience, query_timeout: patience + 1000 }),
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    application_name: applicationName,
    ...(options === '' ? {} : { options }),
    types,
  });
  // A connection that is lost says so to whoever asks it next; one that is idle is forgotten by the pool.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const names = new Map<string, string>();
  /**
   * A name for a statement, so that the server plans it once for a connection; the rest goes unnamed. A long list is
   * planned each time: only where the server knows its values does it look rows up in it by a hash.
   */
  function nameOf(sql: string, parameters: readonly unknown[]): string | undefined {
    if (parameters.length > mostOfPrepared) return undefined;
    const known = names.get(sql);
    if (known !== undefined || names.size >= mostPrepared) return known;
    const name = `s${names.size}`;
    names.set(sql, name);
    return name;
  }
  return {
    async with(work) {
      const client = await told(pool.connect());
      let lost = false;
      try {
        return await work(client);
      } catch (cause) {
        lost = cause instanceof StoreAway;
        throw cause;
      } finally {
        client.release(lost);
      }
    },
    async ask(client, sql, parameters = []) {
      const { rows, rowCount } = await told(client.query({ name: nameOf(sql, parameters), text: sql, values: [...parameters] }));
      return { rows, changes: rowCount ?? 0 };
    },
    say: async (client, commands) => void (await told(client.query(commands))),
    close: () => pool.end(),
  };
}
