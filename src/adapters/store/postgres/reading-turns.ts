import { clientGroupsOf } from '#core/client-networks.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { StoreUnavailable } from '#ports/store.ts';
import type { ConnectionPool } from './pool.ts';

const maxWait = 4000; // ms; reached if the database hardly responds, or if thousands of requests wait

/** Returns the address of the client whose request is running, or undefined for Postern's own work. */
export type ClientAddress = () => string | undefined;

/**
 * Lets networks take turns with the connections of a pool, so that one network does not wait for thousands of requests of another.
 * @param maxConnections of the pool
 */
export function withReadingTurns(connections: ConnectionPool, maxConnections: number, clientAddress: ClientAddress): ConnectionPool {
  const waiting = fairQueue<() => void>();
  let running = 0;

  function waitForTurn(): Promise<void> {
    const groups = clientGroupsOf(clientAddress());
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.remove(groups, start);
        reject(new StoreUnavailable('no connection to the database was free in time'));
      }, maxWait);
      waiting.add(groups, start);
    });
  }
  /** Starts the next waiting query after another one has ended. */
  function endTurn(): void {
    const next = waiting.take();
    if (next) next();
    else running -= 1;
  }
  return {
    ...connections,
    async withClient(work) {
      if (running < maxConnections) running += 1;
      else await waitForTurn();
      try {
        return await connections.withClient(work);
      } finally {
        endTurn();
      }
    },
  };
}
