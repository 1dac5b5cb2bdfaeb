import pg from 'pg';
import type { Answer } from '#adapters/store/kysely-over.ts';
import { said } from './errors.ts';

const connectWithin = 4000; // ms
const mostPrepared = 500; // statements of one connection that the server keeps planned
const [bigint, numeric] = [20, 1700];

/** Connections to one server. */
export interface Connections {
  /** Any free one. @throws StoreAway */
  take(): Promise<pg.PoolClient>;
  /** Asks one of them. @throws StoreAway, StoreFull, and what the server says */
  ask(client: pg.PoolClient, sql: string, parameters?: readonly unknown[]): Promise<Answer>;
  close(): Promise<void>;
}

/** Counts and times stay below 2^53; PostgreSQL calls them bigint, and a sum of them numeric. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === bigint || type === numeric ? Number : pg.types.getTypeParser(type, format),
};

/**
 * @param most how many at once
 * @param patience ms that one statement may take
 */
export function openConnections(url: string, most: number, patience: number): Connections {
  const pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: connectWithin,
    idleTimeoutMillis: 60_000,
    statement_timeout: patience,
    query_timeout: patience + 1000, // where the server itself is gone without a word
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    application_name: 'postern',
    types,
  });
  // A connection that is lost says so to whoever asks it next; one that is idle is forgotten by the pool.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const names = new Map<string, string>();
  /** A name for a statement, so that the server plans it once for a connection; the rest goes unnamed. */
  function nameOf(sql: string): string | undefined {
    const known = names.get(sql);
    if (known !== undefined || names.size >= mostPrepared) return known;
    const name = `s${names.size}`;
    names.set(sql, name);
    return name;
  }
  return {
    take: () =>
      pool.connect().catch((cause: unknown) => {
        throw said(cause);
      }),
    async ask(client, sql, parameters = []) {
      try {
        const { rows, rowCount } = await client.query({ name: nameOf(sql), text: sql, values: [...parameters] });
        return { rows, changes: rowCount ?? 0 };
      } catch (cause) {
        throw said(cause);
      }
    },
    close: () => pool.end(),
  };
}
