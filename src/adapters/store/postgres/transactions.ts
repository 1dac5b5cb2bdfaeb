import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { kyselyOver } from '#adapters/store/kysely-over.ts';
import type { Tx } from '#ports/store.ts';
import { isConflict, isUniqueViolation } from './errors.ts';
import { postgres } from './language.ts';
import type { Connections } from './pool.ts';

const mostTries = 12;
const mostTakenTries = 3; // a name that was taken meanwhile is seen by the second try
const shortestPause = 4; // ms

/** Runs a change in a transaction of its own. */
export type Transact = <T>(change: (tx: Tx) => Promise<T>, dryRun: boolean) => Promise<T>;

/**
 * Runs changes as if no other ran beside them, again where the server finds that one did.
 * @throws StoreAway where the outcome is unknown: an Idempotency-Key settles it
 */
export function transactions(connections: Connections): Transact {
  /** Kysely for each connection: statements are written out once for it. */
  const known = new WeakMap<pg.PoolClient, Tx>();
  function over(client: pg.PoolClient): Tx {
    const tx = known.get(client) ?? kyselyOver(postgres, (sql, parameters) => connections.ask(client, sql, parameters));
    known.set(client, tx);
    return tx;
  }

  async function once<T>(change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    const client = await connections.take();
    let lost = true;
    try {
      await connections.ask(client, 'BEGIN ISOLATION LEVEL SERIALIZABLE');
      try {
        const value = await change(over(client));
        await connections.ask(client, dryRun ? 'ROLLBACK' : 'COMMIT');
        lost = false;
        return value;
      } catch (cause) {
        await connections.ask(client, 'ROLLBACK');
        lost = false;
        throw cause;
      }
    } finally {
      client.release(lost);
    }
  }

  return async (change, dryRun) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(change, dryRun);
      } catch (cause) {
        const again = isConflict(cause) ? tries < mostTries : isUniqueViolation(cause) && tries < mostTakenTries;
        if (!again) throw cause;
        await pause(randomInt(shortestPause * 2 ** Math.min(tries, 7)));
      }
    }
  };
}
