import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { toStoreError } from './errors.ts';

const connectTimeout = 4000; // ms
const maxPrepared = 500; // prepared statements of one connection
const maxParameters = 250; // of a prepared statement
const [bigintOid, numericOid] = [20, 1700];

/** Connections to one server. */
export interface ConnectionPool {
  /**
   * Runs `work` with any free connection. Closes the connection if `work` throws StoreUnavailable, for example after a timeout.
   * @throws StoreUnavailable if no connection is free in time; the errors of `work`
   */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Runs one query. @throws StoreUnavailable, StoreFull, InvalidValue, and the other errors of the server */
  query(client: pg.PoolClient, sql: string, parameters?: readonly unknown[]): Promise<DriverResult>;
  /** Sends one or more commands in one message. @throws as `query` */
  execute(client: pg.PoolClient, commands: string): Promise<void>;
  close(): Promise<void>;
}

/** Parses bigint and numeric (the type of a sum of bigint) as numbers: counts and times stay below 2^53. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === bigintOid || type === numericOid ? Number : pg.types.getTypeParser(type, format),
};

const withStoreErrors = <T>(result: Promise<T>): Promise<T> =>
  result.catch((cause: unknown) => {
    throw toStoreError(cause);
  });

/** Identifies the connections of this process in pg_stat_activity. */
export const applicationName = `postern ${randomBytes(4).toString('hex')}`;

/**
 * Opens a pool of connections to a server.
 * @param statementTimeout ms that one statement may take; null: no limit
 * @param options settings of the server for these connections, such as `-c jit=off`
 */
export function openPool(url: string, maxConnections: number, statementTimeout: number | null, options = ''): ConnectionPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true, // idle connections and their timers do not keep the process alive
    // query_timeout is for a server that no longer responds, and so cannot apply its statement_timeout.
    ...(statementTimeout === null ? {} : { statement_timeout: statementTimeout, query_timeout: statementTimeout + 1000 }),
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    application_name: applicationName,
    ...(options === '' ? {} : { options }),
    types,
  });
  // Ignored: the next query on a lost connection fails anyway, and the pool removes lost connections that are idle.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const statementNames = new Map<string, string>();
  /**
   * Returns the name under which a statement is prepared; undefined: it is not prepared. The server parses a prepared statement only once
   * for each connection, and can cache its plan. A statement with a long list of values is planned each time: the server can hash the
   * values of the list only if it knows them when it plans.
   */
  function statementName(sql: string, parameters: readonly unknown[]): string | undefined {
    if (parameters.length > maxParameters) return undefined;
    const existing = statementNames.get(sql);
    if (existing !== undefined || statementNames.size >= maxPrepared) return existing;
    const name = `s${statementNames.size}`;
    statementNames.set(sql, name);
    return name;
  }
  return {
    async withClient(work) {
      const client = await withStoreErrors(pool.connect());
      let isLost = false;
      try {
        return await work(client);
      } catch (cause) {
        isLost = cause instanceof StoreUnavailable;
        throw cause;
      } finally {
        client.release(isLost);
      }
    },
    async query(client, sql, parameters = []) {
      const query = { name: statementName(sql, parameters), text: sql, values: [...parameters] };
      const { rows, rowCount } = await withStoreErrors(client.query(query));
      return { rows, changes: rowCount ?? 0 };
    },
    execute: async (client, commands) => void (await withStoreErrors(client.query(commands))),
    close: () => pool.end(),
  };
}
