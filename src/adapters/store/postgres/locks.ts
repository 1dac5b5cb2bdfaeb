import { inTurns } from '#adapters/store/turns.ts';
import type { Connections } from './pool.ts';

const lock = 'SELECT pg_advisory_lock(hashtextextended($1, 0))';
const unlock = 'SELECT pg_advisory_unlock(hashtextextended($1, 0))';

/** Runs work of one key alone, in all processes on the database; in turn within this one, so that who waits holds no connection. */
export function locksOver(connections: Connections): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const oneAtATime = inTurns();
  return (key, work) =>
    oneAtATime(key, async () => {
      let done: { readonly value: Awaited<ReturnType<typeof work>> } | undefined;
      try {
        await connections.with(async (client) => {
          await connections.ask(client, lock, [key]);
          try {
            done = { value: await work() };
          } finally {
            await connections.ask(client, unlock, [key]); // where it fails, the connection goes, and the lock with it
          }
        });
      } catch (cause) {
        if (!done) throw cause;
      }
      if (!done) throw new Error('the work of a lock was not done');
      return done.value;
    });
}
