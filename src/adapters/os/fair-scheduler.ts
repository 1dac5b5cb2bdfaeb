import { costQueue } from '#core/cost-queue.ts';

/** Runs work when it is the turn of its group. */
export type FairScheduler = <T>(group: string, work: () => Promise<T>) => Promise<T>;

/** Limits how many callers hold a slot of the same key at once. Further callers wait in the order of their arrival. */
function slotsByKey(maxPerKey: number) {
  const slots = new Map<string, { count: number; readonly waiting: (() => void)[] }>();
  return {
    async acquire(key: string): Promise<void> {
      const slot = slots.get(key) ?? { count: 0, waiting: [] };
      slots.set(key, slot);
      if (slot.count < maxPerKey) slot.count += 1;
      else await new Promise<void>((resolve) => slot.waiting.push(resolve));
    },
    release(key: string): void {
      const slot = slots.get(key);
      const next = slot?.waiting.shift();
      if (next) return void next();
      if (slot) slot.count -= 1;
      if (slot?.count === 0) slots.delete(key);
    },
  };
}

/**
 * Returns a scheduler of tasks, such as changes of the database. The more time the tasks of a group take, the later its
 * next turn comes, so that one group does not block the others.
 * @param maxConcurrent maximum number of tasks that run at once
 * @param maxPerGroup maximum number of tasks of one group that run at once: if they wait for one another, other groups can still run
 */
export function fairScheduler(maxConcurrent: number, maxPerGroup = maxConcurrent): FairScheduler {
  const waiting = costQueue<() => void>();
  const groupSlots = slotsByKey(maxPerGroup);
  let running = 0;
  return async (group, work) => {
    await groupSlots.acquire(group);
    if (running < maxConcurrent) running += 1;
    else await new Promise<void>((resolve) => waiting.add(group, resolve));
    const start = performance.now();
    try {
      return await work();
    } finally {
      waiting.charge(group, performance.now() - start);
      const next = waiting.take();
      if (next) next();
      else running -= 1;
      groupSlots.release(group);
    }
  };
}
