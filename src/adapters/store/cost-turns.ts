import { costQueue } from '#core/cost-queue.ts';

/** Runs a change when the turn of its group comes. */
export type RunInTurn = <T>(group: string, change: () => Promise<T>) => Promise<T>;

/** Lets so many of one key through at once, the others in the order in which they came. */
function places(most: number) {
  const taken = new Map<string, { count: number; readonly waiting: (() => void)[] }>();
  return {
    async take(key: string): Promise<void> {
      const own = taken.get(key) ?? { count: 0, waiting: [] };
      taken.set(key, own);
      if (own.count < most) own.count += 1;
      else await new Promise<void>((next) => own.waiting.push(next));
    },
    leave(key: string): void {
      const own = taken.get(key);
      const next = own?.waiting.shift();
      if (next) return void next();
      if (own) own.count -= 1;
      if (own?.count === 0) taken.delete(key);
    },
  };
}

/**
 * Groups take turns by the time that their changes take, a few at a time: the other connections are left to everybody else.
 * @param ofOneGroup at most so many of one group, whose changes may wait for one another
 */
export function costTurns(atOnce: number, ofOneGroup = atOnce): RunInTurn {
  const waiting = costQueue<() => void>();
  const own = places(ofOneGroup);
  let running = 0;
  return async (group, change) => {
    await own.take(group);
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
      own.leave(group);
    }
  };
}
