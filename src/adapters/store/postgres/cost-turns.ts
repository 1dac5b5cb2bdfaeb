import { costQueue } from '#core/cost-queue.ts';

/** Runs a change when the turn of its group comes. */
export type RunInTurn = <T>(group: string, change: () => Promise<T>) => Promise<T>;

/** Groups take turns by the time that their changes take, a few at a time: the other connections are left to everybody else. */
export function costTurns(atOnce: number): RunInTurn {
  const waiting = costQueue<() => void>();
  let running = 0;
  return async (group, change) => {
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
