import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { keyedMutex, multiKeyMutex, type RunUnderKeys } from '#adapters/store/keyed-mutex.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { watchEnd } from './locks.ts';
import type { ConnectionPool } from './pool.ts';

// Session-level locks: a connection may hold any number of them. The keys are hashed like those of transaction locks (locks.ts).
const takeStatement = 'SELECT key FROM unnest($1::text[]) AS key WHERE pg_try_advisory_lock(hashtextextended(key, 0))';
const releaseStatement = 'SELECT pg_advisory_unlock(hashtextextended(key, 0)) FROM unnest($1::text[]) AS key';
const releaseAllStatement = 'SELECT pg_advisory_unlock_all()';
/** PostgreSQL 13 has no `idle_session_timeout`: there, the locks of a process that hangs end with its connection. */
const limitIdleStatement = `SELECT set_config('idle_session_timeout', $1, false) WHERE current_setting('server_version_num')::int >= 140000`;

const [firstPause, longestPause] = [5, 100]; // ms between two tries to take locks that another process holds

/** A process that waits for a key holds this lock, so that the process that releases the key cannot take the key again first. */
const turnOf = (key: string) => `turn of ${key}`;

/** Times in ms. */
export interface SessionLockTimes {
  /** Time without a statement after which the server assumes that the process is gone, and releases its locks. */
  readonly maxIdle: number;
  /** Time between two statements that show the server that the process runs. */
  readonly aliveInterval: number;
  /** Maximum time for which work waits for the locks of other processes. */
  readonly maxWait: number;
}

/** One connection, and the work that uses it. */
interface LockSession {
  readonly statements: Promise<LockStatements>;
  /** Number of calls of `run` that use the session. */
  users: number;
  /** Releases all locks and returns the connection. */
  readonly end: () => void;
}

/** Sends statements over one connection, one after the other. After a statement that got no response, the connection is lost. */
class LockStatements {
  readonly #connections: ConnectionPool;
  readonly #client: pg.PoolClient;
  readonly #runSerially = keyedMutex();
  readonly #lost = Promise.withResolvers<never>();
  #pending = 0;

  constructor(connections: ConnectionPool, client: pg.PoolClient) {
    this.#connections = connections;
    this.#client = client;
    this.lost.catch(() => {});
  }

  /** Rejects when the connection is lost. */
  get lost(): Promise<never> {
    return this.#lost.promise;
  }

  /** @returns the column `key` of the rows @throws StoreUnavailable */
  async send(statement: string, parameters: readonly unknown[] = []): Promise<unknown[]> {
    this.#pending += 1;
    try {
      const query = () => this.#connections.query(this.#client, statement, parameters);
      const { rows } = await Promise.race([this.lost, this.#runSerially('', query)]);
      return rows.map((row) => (typeof row === 'object' && row !== null && 'key' in row ? row.key : null));
    } catch (cause) {
      if (cause instanceof StoreUnavailable) this.#lost.reject(cause);
      throw cause;
    } finally {
      this.#pending -= 1;
    }
  }

  /** Shows the server that this process runs. */
  showAlive(): void {
    if (this.#pending === 0) void this.send('SELECT 1').catch(() => {});
  }

  /** Takes all locks or none. @returns those that were not free */
  async takeAll(keys: readonly string[]): Promise<string[]> {
    const takenKeys = await this.send(takeStatement, [keys]);
    if (takenKeys.length < keys.length) await this.release(takenKeys);
    return keys.filter((key) => !takenKeys.includes(key));
  }

  async release(keys: readonly unknown[]): Promise<void> {
    if (keys.length > 0) await this.send(releaseStatement, [keys]);
  }

  /** Releases locks before any later statement runs. Ignores errors: a lost connection has released its locks. */
  releaseInBackground(keys: readonly string[]): void {
    void this.release(keys).catch(() => {});
  }
}

/**
 * Locks that are shared by all processes on a database. One connection holds all locks of this process, so that work that hangs does
 * not occupy one of its own. If the connection is lost, its locks are lost too. Work that is running then still returns its result.
 */
export class SessionLocks {
  readonly #connections: ConnectionPool;
  readonly #times: SessionLockTimes;
  readonly #runSerially = multiKeyMutex();
  #session: LockSession | null = null;

  /** @param connections a pool of one connection, which nothing else uses */
  constructor(connections: ConnectionPool, times: SessionLockTimes) {
    this.#connections = connections;
    this.#times = times;
  }

  /**
   * Runs work under several keys.
   * @throws StoreUnavailable if another process holds one of them for too long, or the database does not respond; the error of the work
   */
  readonly run: RunUnderKeys = (keys, work) => this.#runSerially(keys, () => this.#runLocked([...new Set(keys)], work));

  async #runLocked<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const session = this.#session ?? this.#open();
    session.users += 1;
    try {
      const statements = await session.statements;
      await this.#take(statements, keys);
      try {
        return await work();
      } finally {
        statements.releaseInBackground(keys);
      }
    } finally {
      session.users -= 1;
      if (session.users === 0) session.end();
    }
  }

  async #take(statements: LockStatements, keys: readonly string[]): Promise<void> {
    const deadline = performance.now() + this.#times.maxWait;
    const missingKeys = await statements.takeAll([...keys.map(turnOf), ...keys]);
    if (missingKeys.length === 0) return statements.releaseInBackground(keys.map(turnOf));
    const turns = keys.filter((key) => missingKeys.includes(key) || missingKeys.includes(turnOf(key))).map(turnOf);
    await this.#poll(statements, turns, deadline);
    try {
      await this.#poll(statements, keys, deadline);
    } finally {
      statements.releaseInBackground(turns);
    }
  }

  /** Tries until the locks are free. @throws StoreUnavailable after the deadline */
  async #poll(statements: LockStatements, keys: readonly string[], deadline: number): Promise<void> {
    let longest = firstPause;
    while ((await statements.takeAll(keys)).length > 0) {
      if (performance.now() > deadline) throw new StoreUnavailable('another process has held a lock for too long');
      // The pause is random: otherwise, two processes that need the same locks could block each other again and again.
      await pause(firstPause + Math.random() * (longest - firstPause));
      longest = Math.min(2 * longest, longestPause);
    }
  }

  #open(): LockSession {
    const [statements, end] = [Promise.withResolvers<LockStatements>(), Promise.withResolvers<void>()];
    const forget = () => {
      if (this.#session === session) this.#session = null;
      end.resolve();
    };
    const session: LockSession = { statements: statements.promise, users: 0, end: forget };
    this.#session = session;
    statements.promise.then(({ lost }) => lost.catch(forget), forget);
    this.#connections
      .withClient((client) => this.#hold(client, end.promise, statements.resolve))
      .catch(statements.reject)
      .finally(forget);
    return session;
  }

  /** Keeps a connection until its session ends or the connection is lost. @param ready called when locks can be taken */
  async #hold(client: pg.PoolClient, ended: Promise<void>, ready: (statements: LockStatements) => void): Promise<void> {
    const { maxIdle, aliveInterval } = this.#times;
    const connection = watchEnd(client);
    const statements = new LockStatements(this.#connections, client);
    const timer = setInterval(() => statements.showAlive(), aliveInterval).unref();
    try {
      await statements.send(limitIdleStatement, [`${maxIdle}`]);
      ready(statements);
      await Promise.race([ended, connection.ended, statements.lost]);
    } finally {
      clearInterval(timer);
      connection.stop();
    }
    await statements.send(releaseAllStatement);
  }
}
