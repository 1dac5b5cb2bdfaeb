import { type CostQueue, costQueue } from '#core/cost-queue.ts';

/** Runs work when it is the turn of its group, and of its part of the group. */
export type FairScheduler = <T>(group: string, work: () => Promise<T>, part?: string) => Promise<T>;

/**
 * Limits how many callers hold a slot of the same key at once. Further callers wait: the next one is of the part of the key whose callers
 * have held the slots for the shortest time.
 */
function slotsByKey(maxPerKey: number) {
  const slots = new Map<string, { count: number; readonly waiting: CostQueue<() => void> }>();
  return {
    async acquire(key: string, part: string): Promise<void> {
      const slot = slots.get(key) ?? { count: 0, waiting: costQueue() };
      slots.set(key, slot);
      if (slot.count < maxPerKey) slot.count += 1;
      else await new Promise<void>((resolve) => slot.waiting.add(part, resolve));
    },
    /** @param duration for how long the caller has held the slot, in ms */
    release(key: string, part: string, duration: number): void {
      const slot = slots.get(key);
      slot?.waiting.charge(part, duration);
      const next = slot?.waiting.take();
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
  return async (group, work, part = '') => {
    await groupSlots.acquire(group, part);
    if (running < maxConcurrent) running += 1;
    else await new Promise<void>((resolve) => waiting.add(group, resolve));
    const start = performance.now();
    try {
      return await work();
    } finally {
      const duration = performance.now() - start;
      waiting.charge(group, duration);
      const next = waiting.take();
      if (next) next();
      else running -= 1;
      groupSlots.release(group, part, duration);
    }
  };
}
