import { concurrencyLimit } from '#core/concurrency-limit.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { Refusal } from '#core/messages.ts';

const maxWaiting = 60;
const retryAfter = 2; // seconds

/** The groups of the fair queue that an attempt belongs to: a wide network or a tenant, and a narrow network within it. */
export type QueueGroups = readonly [wide: string, narrow: string];

interface WaitingAttempt {
  readonly party: QueueGroups;
  readonly start: () => void;
  readonly refuse: (cause: Error) => void;
}

/** Runs the work that computes hashes; parties take turns. */
export interface HashQueue {
  /** @throws Refusal `signInBusy` if too many attempts wait */
  run<T>(party: QueueGroups, work: () => Promise<T>): Promise<T>;
  /** Returns how many attempts wait for their turn. */
  waitingCount(): number;
}

const busyRefusal = () => new Refusal('signInBusy', undefined, { retryAfter });

/**
 * Returns a queue that runs a limited number of attempts at once. If more than sixty wait, it refuses the newest attempt of the
 * wide network with the most waiting attempts, so that one network cannot lock out the others.
 */
export function hashQueue(maxConcurrent: number): HashQueue {
  const queue = fairQueue<WaitingAttempt>();
  const waitingAttempts = new Set<WaitingAttempt>(); // the same attempts in the order of their arrival
  const runLimited = concurrencyLimit(maxConcurrent, () => {
    const next = queue.take();
    if (next) waitingAttempts.delete(next);
    return next?.start;
  });

  /**
   * Returns the newest attempt of the largest party, or undefined if no party is larger than the newcomer's, the newcomer included.
   * @param isNarrow true: compares the narrow parties within the newcomer's wide one; false: compares wide parties
   */
  function newestOfLargestParty(newcomer: QueueGroups, isNarrow: boolean): WaitingAttempt | undefined {
    const countOf = (party: QueueGroups) => queue.count(isNarrow ? party : [party[0]]);
    let newest: WaitingAttempt | undefined;
    let largestCount = countOf(newcomer) + 1;
    for (const attempt of waitingAttempts) {
      if (isNarrow && attempt.party[0] !== newcomer[0]) continue;
      const count = countOf(attempt.party);
      if (count < largestCount || (count === largestCount && !newest)) continue;
      [newest, largestCount] = [attempt, count];
    }
    return newest;
  }
  /** Refuses one waiting attempt if the queue is full. @throws Refusal if the newcomer's own network has the most attempts */
  function makeSpace(newcomer: QueueGroups): void {
    if (waitingAttempts.size < maxWaiting) return;
    const attempt = newestOfLargestParty(newcomer, false) ?? newestOfLargestParty(newcomer, true);
    if (!attempt) throw busyRefusal();
    queue.remove(attempt.party, attempt);
    waitingAttempts.delete(attempt);
    attempt.refuse(busyRefusal());
  }
  function waitForTurn(party: QueueGroups): Promise<void> {
    makeSpace(party);
    return new Promise((start, refuse) => {
      const attempt = { party, start, refuse };
      queue.add(party, attempt);
      waitingAttempts.add(attempt);
    });
  }
  return {
    run: (party, work) => runLimited(async () => waitForTurn(party), work),
    waitingCount: () => waitingAttempts.size,
  };
}
