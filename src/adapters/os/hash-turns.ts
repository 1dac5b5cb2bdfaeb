import { concurrencyLimit } from '#core/concurrency-limit.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { Refusal } from '#core/messages.ts';

const maxWaiting = 60;
const retryAfter = 2; // seconds

/**
 * The groups of the fair queue that an attempt belongs to: a wide network and a narrow one within it, or a tenant and one of its keys or
 * operators.
 */
export type QueueGroups = readonly [wide: string, narrow: string];

interface WaitingAttempt {
  readonly groups: QueueGroups;
  readonly start: () => void;
  readonly refuse: (cause: Error) => void;
}

/** Runs the work that computes hashes; groups take turns. */
export interface HashQueue {
  /** Runs an attempt in its turn. @throws Refusal `signInBusy` if too many attempts wait */
  run<T>(groups: QueueGroups, work: () => Promise<T>): Promise<T>;
  /** Returns how many attempts wait for their turn. */
  waitingCount(): number;
}

const busyRefusal = () => new Refusal('signInBusy', undefined, { retryAfter });

/**
 * Returns a queue that limits the concurrent attempts. If an attempt arrives while sixty wait, the queue refuses the newest attempt of the
 * wide group with the most attempts, so that no group can lock out the others. If the arriving attempt is in this wide group, the queue
 * compares the narrow groups within this group in the same way.
 */
export function hashQueue(maxConcurrent: number): HashQueue {
  const queue = fairQueue<WaitingAttempt>();
  const waitingAttempts = new Set<WaitingAttempt>(); // all attempts in `queue`, in the order of their arrival
  const runLimited = concurrencyLimit(maxConcurrent, () => {
    const next = queue.take();
    if (next) waitingAttempts.delete(next);
    return next?.start;
  });

  /**
   * Returns the newest attempt of the largest group, or undefined if no group is larger than the group of the new attempt. The new
   * attempt, which is not in the queue yet, is counted in its group.
   * @param isNarrow true: compares the narrow groups within the wide group of the new attempt; false: compares wide groups
   */
  function newestOfLargestGroup(newGroups: QueueGroups, isNarrow: boolean): WaitingAttempt | undefined {
    const countOf = (groups: QueueGroups) => queue.count(isNarrow ? groups : [groups[0]]);
    let newest: WaitingAttempt | undefined;
    let largestCount = countOf(newGroups) + 1;
    for (const attempt of waitingAttempts) {
      if (isNarrow && attempt.groups[0] !== newGroups[0]) continue;
      const count = countOf(attempt.groups);
      if (count < largestCount || (count === largestCount && !newest)) continue;
      [newest, largestCount] = [attempt, count];
    }
    return newest;
  }
  /** Refuses one waiting attempt if the queue is full. @throws Refusal if no group has more attempts than the group of the new one */
  function makeSpace(newGroups: QueueGroups): void {
    if (waitingAttempts.size < maxWaiting) return;
    const attempt = newestOfLargestGroup(newGroups, false) ?? newestOfLargestGroup(newGroups, true);
    if (!attempt) throw busyRefusal();
    queue.remove(attempt.groups, attempt);
    waitingAttempts.delete(attempt);
    attempt.refuse(busyRefusal());
  }
  function waitForTurn(groups: QueueGroups): Promise<void> {
    makeSpace(groups);
    return new Promise((start, refuse) => {
      const attempt = { groups, start, refuse };
      queue.add(groups, attempt);
      waitingAttempts.add(attempt);
    });
  }
  return {
    run: (groups, work) => runLimited(async () => waitForTurn(groups), work),
    waitingCount: () => waitingAttempts.size,
  };
}
