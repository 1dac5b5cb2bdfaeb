import { hash, verify } from '@node-rs/argon2';
import { fairQueue } from '#core/fair-queue.ts';
import { Refusal } from '#core/messages.ts';
import type { PasswordHash } from '#ports/password-hash.ts';

// RFC 9106's second choice, with less time: 50 to 70 ms on two cores. More makes sign-in slow, less makes guessing cheap.
const parameters = { memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const;
const atOnce = 2; // the cores: more hashes at once take longer each and together
const mostWaiting = 20;
const retryAfter = 2; // seconds
const ours = 'passwords that are set'; // in turn with the networks that sign in

/** An attempt that waits for its turn. */
interface Waiting {
  readonly network: string;
  readonly start: () => void;
  readonly refuse: (cause: Error) => void;
}

const busy = () => new Refusal('signInBusy', undefined, { retryAfter });

/**
 * argon2id off the event loop, two at a time, networks in turn. Beyond twenty that wait one is refused: the newest of the
 * network that has most, so that nobody is kept out by another network's attempts.
 * @param cost of one hash: memory in KiB, passes over it, lanes
 */
export function argon2Hash(cost: { memoryCost: number; timeCost: number; parallelism: number } = parameters): PasswordHash {
  const queue = fairQueue<Waiting>();
  const waiting = new Set<Waiting>(); // the same, in the order in which they came
  let running = 0;
  let unknown: Promise<string> | undefined;

  /** Makes room for one more of a network. @throws 503 where that network itself has most */
  function makeRoom(network: string): void {
    if (waiting.size < mostWaiting) return;
    const newest = [...waiting].reverse();
    const largest = newest.toSorted((a, b) => queue.count([b.network]) - queue.count([a.network]))[0];
    if (!largest || queue.count([largest.network]) <= queue.count([network]) + 1) throw busy();
    queue.remove([largest.network], largest);
    waiting.delete(largest);
    largest.refuse(busy());
  }
  function wait(network: string): Promise<void> {
    makeRoom(network);
    return new Promise((start, refuse) => {
      const one = { network, start, refuse };
      queue.add([network], one);
      waiting.add(one);
    });
  }
  async function inTurn<T>(network: string, work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) await wait(network);
    else running += 1;
    try {
      return await work();
    } finally {
      const next = queue.take();
      if (next) {
        waiting.delete(next);
        next.start();
      } else running -= 1;
    }
  }

  async function verifyStored(stored: string | null, password: string): Promise<boolean> {
    unknown ??= hash('no password of anybody', cost);
    const right = await verify(stored ?? (await unknown), password);
    return right && stored !== null;
  }

  return {
    hash: (password, network = ours) => inTurn(network, () => hash(password, cost)),
    inTurn: (network, attempt) => inTurn(network, () => attempt(verifyStored)),
    waiting: () => waiting.size,
  };
}
