import pg from 'pg';
import { inLockOrder, type RunUnderKeys } from '#adapters/store/keyed-mutex.ts';
import type { ConnectionPool } from './pool.ts';

/** Takes an exclusive lock on a key, which ends with the transaction. */
const lockStatement = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Returns the command that takes a shared lock on a key in a transaction. It waits while other work holds the key exclusively. */
export const sharedLockStatement = (key: string) => `SELECT pg_advisory_xact_lock_shared(hashtextextended(${pg.escapeLiteral(key)}, 0))`;

/** Returns a promise that resolves when a connection ends, and a function that stops watching the connection. */
export function watchEnd(client: pg.PoolClient): { ended: Promise<void>; stop: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const handleEnd = () => resolve();
  client.on('error', handleEnd).on('end', handleEnd);
  return { ended, stop: () => client.off('error', handleEnd).off('end', handleEnd) };
}

/**
 * Returns a function that runs work under several keys, which all processes on the database share. Work that waits holds a connection.
 * @param maxIdle ms without a statement, after which the server assumes that the process is gone. Work that takes longer continues without
 *   the lock
 */
export function advisoryLocks(connections: ConnectionPool, maxIdle: number): RunUnderKeys {
  const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${maxIdle}`;
  return async (keys, work) => {
    // The outcome of the work counts, even if it failed, and even if the connection was lost meanwhile.
    let working: Promise<[PromiseSettledResult<Awaited<ReturnType<typeof work>>>]> | undefined;
    try {
      await connections.withClient(async (client) => {
        await connections.execute(client, begin);
        const connection = watchEnd(client);
        try {
          for (const key of inLockOrder(keys)) await connections.query(client, lockStatement, [key]);
          working = Promise.allSettled([work()]);
          // Work that hangs must not keep a connection that the server has closed: other work waits for a connection.
          await Promise.race([working, connection.ended]);
        } finally {
          connection.stop();
          await connections.execute(client, 'COMMIT');
        }
      });
    } catch (cause) {
      if (!working) throw cause;
    }
    if (!working) throw new Error('the work under the lock did not run');
    const [outcome] = await working;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
}
