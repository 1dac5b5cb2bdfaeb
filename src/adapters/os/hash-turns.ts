import { concurrencyLimit } from '#core/concurrency-limit.ts';
import { fairQueue } from '#core/fair-queue.ts';
import { Refusal } from '#core/messages.ts';

const mostWaiting = 20;
const retryAfter = 2; // seconds

/** Who takes turns: a wide network, or a tenant, and one within it. */
export type Party = readonly [wide: string, narrow: string];

/** An attempt that waits for its turn. */
interface Waiting {
  readonly party: Party;
  readonly start: () => void;
  readonly refuse: (cause: Error) => void;
}

/** Runs what computes hashes, parties in turn. */
export interface HashTurns {
  /** @throws Refusal `signInBusy` where too many wait */
  run<T>(party: Party, work: () => Promise<T>): Promise<T>;
  waiting(): number;
}

const busy = () => new Refusal('signInBusy', undefined, { retryAfter });

/**
 * Beyond twenty that wait one is refused: the newest of the wide network that has most, so that nobody is kept out by
 * another network's attempts.
 */
export function hashTurns(atOnce: number): HashTurns {
  const queue = fairQueue<Waiting>();
  const waiting = new Set<Waiting>(); // the same, in the order in which they came
  const inPlace = concurrencyLimit(atOnce, () => {
    const next = queue.take();
    if (next) waiting.delete(next);
    return next?.start;
  });

  /** The newest of the largest party, where that is larger than the newcomer's will be. @param within compares narrow parties of the newcomer's wide one */
  function mostCrowded(newcomer: Party, within: boolean): Waiting | undefined {
    const countOf = (party: Party) => queue.count(within ? party : [party[0]]);
    let largest: Waiting | undefined;
    let most = countOf(newcomer) + 1;
    for (const one of waiting) {
      if (within && one.party[0] !== newcomer[0]) continue;
      const count = countOf(one.party);
      if (count < most || (count === most && !largest)) continue;
      [largest, most] = [one, count];
    }
    return largest;
  }
  /** Makes room for one more. @throws 503 where its own network has most */
  function makeRoom(newcomer: Party): void {
    if (waiting.size < mostWaiting) return;
    const refused = mostCrowded(newcomer, false) ?? mostCrowded(newcomer, true);
    if (!refused) throw busy();
    queue.remove(refused.party, refused);
    waiting.delete(refused);
    refused.refuse(busy());
  }
  function wait(party: Party): Promise<void> {
    makeRoom(party);
    return new Promise((start, refuse) => {
      const one = { party, start, refuse };
      queue.add(party, one);
      waiting.add(one);
    });
  }
  return {
    run: (party, work) => inPlace(async () => wait(party), work),
    waiting: () => waiting.size,
  };
}
