import { costQueue } from '#core/cost-queue.ts';

/** Runs a tenant's change when its turn comes. */
export type RunInTurn = <T>(tenant: number, change: () => Promise<T>) => Promise<T>;

/**
 * Tenants take turns by the time that their changes take, a few at a time: the other connections are left to visitors
 * and to ourselves.
 */
export function tenantTurns(atOnce: number): RunInTurn {
  const waiting = costQueue<() => void>();
  let running = 0;
  return async (tenant, change) => {
    const group = `${tenant}`;
    if (running < atOnce) running += 1;
    else await new Promise<void>((turn) => waiting.add(group, turn));
    const start = performance.now();
    try {
      return await change();
    } finally {
      waiting.charge(group, performance.now() - start);
      const next = waiting.take();
      if (next) next();
      else running -= 1;
    }
  };
}
