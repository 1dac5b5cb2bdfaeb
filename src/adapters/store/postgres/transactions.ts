import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { inTurns } from '#adapters/store/turns.ts';
import type { Tx } from '#ports/store.ts';
import { hasCollided, LockRefused } from './errors.ts';
import { postgres } from './language.ts';
import { shareKey } from './locks.ts';
import type { Connections } from './pool.ts';

const mostTries = 3; // a name that was taken meanwhile is seen by the second
const lockPause = 150; // ms between two attempts at the lock of a change that runs alone
const mostLockTries = 25; // five seconds
const begin = 'BEGIN ISOLATION LEVEL SERIALIZABLE';
/**
 * Changes share a lock, on a table that is written at a start alone; one that collides again and again has it alone, in
 * all processes. A lock of the transaction: where a process stands still or its network is cut, the server ends the
 * transaction, and the others go on. LOCK TABLE takes no snapshot, so that the change sees what was committed while it
 * waited.
 */
const share = 'LOCK TABLE migration IN ROW SHARE MODE';
/**
 * All others wait for it: no statement of it may take long, and while it waits for its lock behind a long change they
 * wait too. So it asks for the lock with little patience, again and again, and they go on in between.
 */
const beginAlone = [
  begin,
  'SET LOCAL lock_timeout = 50',
  'LOCK TABLE migration IN EXCLUSIVE MODE',
  'SET LOCAL lock_timeout TO DEFAULT',
  'SET LOCAL statement_timeout = 1000',
].join('; ');
/** A visitor's change that waits for a row, which a long change of a tenant holds, keeps a connection from other visitors. */
const waitsShortly = 'SET LOCAL lock_timeout = 1000';

/** Runs a change in a transaction of its own. @throws what `hasCollided` tells, where it met another change */
export type Transact = <T>(change: (tx: Tx) => Promise<T>, dryRun: boolean) => Promise<T>;

export interface Transactions {
  /**
   * Runs a change beside others, as if none ran beside it.
   * @param key of a tenant: no change that shares it runs beside what has it alone (`lockOver`). Taken first: who waits for it
   *   holds up nobody. Without one it is a visitor's.
   */
  readonly beside: (key?: string) => Transact;
  /** Runs it while no other change runs in any process, so that it comes to its end. @throws StoreAway where it takes long */
  readonly alone: Transact;
}

/** @throws StoreAway where the outcome is unknown: an Idempotency-Key settles it */
export function transactions(connections: Connections): Transactions {
  /** Kysely for each connection: statements are written out once for it. */
  const known = new WeakMap<pg.PoolClient, Tx>();
  function over(client: pg.PoolClient): Tx {
    const tx = known.get(client) ?? kyselyWithDriver(postgres, (sql, parameters) => connections.ask(client, sql, parameters));
    known.set(client, tx);
    return tx;
  }

  async function once<T>(client: pg.PoolClient, beginning: string, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    try {
      await connections.say(client, beginning); // its lock may be refused, in a transaction that has begun
      const value = await change(over(client));
      await connections.say(client, dryRun ? 'ROLLBACK' : 'COMMIT');
      return value;
    } catch (cause) {
      await connections.say(client, 'ROLLBACK');
      throw cause;
    }
  }

  async function untilItEnds<T>(client: pg.PoolClient, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    let [tries, refusals] = [1, 0];
    for (;;) {
      try {
        return await once(client, beginAlone, change, dryRun);
      } catch (cause) {
        if (cause instanceof LockRefused) refusals += 1;
        else if (hasCollided(cause)) tries += 1;
        else throw cause;
        if (tries > mostTries || refusals > mostLockTries) throw cause;
        if (cause instanceof LockRefused) await setTimeout(lockPause);
      }
    }
  }

  const oneAtATime = inTurns(); // the others would hold a connection while they wait
  return {
    beside: (key) => {
      const beginning = (key === undefined ? [begin, share, waitsShortly] : [begin, shareKey(key), share]).join('; ');
      return (change, dryRun) => connections.with((client) => once(client, beginning, change, dryRun));
    },
    alone: (change, dryRun) => oneAtATime('', () => connections.with((client) => untilItEnds(client, change, dryRun))),
  };
}
