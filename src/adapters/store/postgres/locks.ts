import pg from 'pg';
import { inTurns } from '#adapters/store/turns.ts';
import type { Connections } from './pool.ts';

/** Ends with its transaction, and so with a process that stands still or whose network is cut. */
const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** The command by which a transaction shares a key with others, and waits while work runs alone under it. */
export const shareKey = (key: string) => `SELECT pg_advisory_xact_lock_shared(hashtextextended(${pg.escapeLiteral(key)}, 0))`;

/** Runs work of one key alone. */
export type RunAlone = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Runs work of one key alone, in all processes on the database. Who waits holds a connection.
 * @param longestWork ms without a word, after which the server takes the process for gone
 */
export function lockOver(connections: Connections, longestWork: number): RunAlone {
  const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${longestWork}`;
  return async (key, work) => {
    // The outcome of the work counts, a failure included, even if the connection is lost meanwhile.
    let outcome: PromiseSettledResult<Awaited<ReturnType<typeof work>>> | undefined;
    try {
      await connections.with(async (client) => {
        await connections.say(client, begin);
        try {
          await connections.ask(client, lock, [key]);
          [outcome] = await Promise.allSettled([work()]);
        } finally {
          await connections.say(client, 'COMMIT');
        }
      });
    } catch (cause) {
      if (!outcome) throw cause;
    }
    if (!outcome) throw new Error('the work of a lock was not done');
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
}

/** The same, in turn within this process, so that who waits there holds no connection. */
export function locksOver(connections: Connections, longestWork: number): RunAlone {
  const oneAtATime = inTurns();
  const locked = lockOver(connections, longestWork);
  return (key, work) => oneAtATime(key, () => locked(key, work));
}
