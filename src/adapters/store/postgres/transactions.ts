import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { keyedMutex } from '#adapters/store/keyed-mutex.ts';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Tx } from '#ports/store.ts';
import { isWriteConflict, LockTimeout } from './errors.ts';
import { sharedLockStatement } from './locks.ts';
import type { ConnectionPool } from './pool.ts';
import { postgresDialect } from './sql-dialect.ts';

const maxTries = 3; // of an exclusive change, if the database reports a conflict all the same
const lockPause = 150; // ms between two attempts to lock out all other changes
const maxLockTries = 25; // five seconds
const begin = 'BEGIN ISOLATION LEVEL SERIALIZABLE';
/**
 * Every change takes this lock in shared mode, on a table that is written only at a start. A change that conflicts again and again takes
 * it in exclusive mode, so that it runs alone. The lock belongs to the transaction: if a process hangs or its network is cut, the server
 * ends the transaction, and the others continue. LOCK TABLE takes no snapshot: a change that waited only for this lock sees everything
 * that was committed meanwhile.
 */
const shareChanges = 'LOCK TABLE migration IN ROW SHARE MODE';
/**
 * While a change holds this lock, all others wait, so none of its statements may take long. The others also queue behind an attempt
 * to get the lock, so each attempt is short, and the others run between two attempts.
 */
const beginExclusive = [
  begin,
  'SET LOCAL lock_timeout = 50',
  'LOCK TABLE migration IN EXCLUSIVE MODE',
  'SET LOCAL lock_timeout TO DEFAULT',
  'SET LOCAL statement_timeout = 1000',
].join('; ');
/** Limits the wait for a row that a long change of a tenant has locked: meanwhile, other visitors cannot use the connection. */
const visitorLockTimeout = 'SET LOCAL lock_timeout = 1000';

/** Runs a change in a transaction of its own. @throws an error for which `isWriteConflict` is true, after a conflict with another change */
export type Transact = <T>(change: (tx: Tx) => Promise<T>, dryRun: boolean) => Promise<T>;

export interface Transactions {
  /**
   * Runs a change concurrently with others, serializable.
   * @param key name of the tenant's retry queue. The change waits while a retried change of the tenant holds the advisory lock
   *   of that name (`advisoryLocks`). It takes this lock before any other, so that it blocks no change while it waits. Without a
   *   key (changes of visitors and jobs, and retries), the change waits at most a second for a locked row.
   */
  readonly concurrent: (key?: string) => Transact;
  /** Runs a change while no other change of any process runs. @throws StoreUnavailable if the lock or a statement takes too long */
  readonly exclusive: Transact;
}

/**
 * Returns the ways to run a transaction. They throw StoreUnavailable if the outcome is unknown: a client that repeats its request with
 * the same Idempotency-Key learns the outcome.
 */
export function transactionRunner(connections: ConnectionPool): Transactions {
  /** One Kysely for each connection, so that its prepared statements are compiled only once. */
  const kyselyByClient = new WeakMap<pg.PoolClient, Tx>();
  function kyselyFor(client: pg.PoolClient): Tx {
    const tx =
      kyselyByClient.get(client) ?? kyselyWithDriver(postgresDialect, (sql, parameters) => connections.query(client, sql, parameters));
    kyselyByClient.set(client, tx);
    return tx;
  }

  async function runOnce<T>(client: pg.PoolClient, beginCommands: string, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    try {
      await connections.execute(client, beginCommands); // the lock may be refused after BEGIN has succeeded
      const value = await change(kyselyFor(client));
      await connections.execute(client, dryRun ? 'ROLLBACK' : 'COMMIT');
      return value;
    } catch (cause) {
      await connections.execute(client, 'ROLLBACK');
      throw cause;
    }
  }

  async function runExclusive<T>(client: pg.PoolClient, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    let [tries, lockTries] = [1, 0];
    for (;;) {
      try {
        return await runOnce(client, beginExclusive, change, dryRun);
      } catch (cause) {
        if (cause instanceof LockTimeout) lockTries += 1;
        else if (isWriteConflict(cause)) tries += 1;
        else throw cause;
        if (tries > maxTries || lockTries > maxLockTries) throw cause;
        if (cause instanceof LockTimeout) await setTimeout(lockPause);
      }
    }
  }

  const runSerially = keyedMutex(); // otherwise each waiting change would hold a connection
  return {
    concurrent: (key) => {
      const beginCommands = (
        key === undefined ? [begin, shareChanges, visitorLockTimeout] : [begin, sharedLockStatement(key), shareChanges]
      ).join('; ');
      return (change, dryRun) => connections.withClient((client) => runOnce(client, beginCommands, change, dryRun));
    },
    exclusive: (change, dryRun) => runSerially('', () => connections.withClient((client) => runExclusive(client, change, dryRun))),
  };
}
