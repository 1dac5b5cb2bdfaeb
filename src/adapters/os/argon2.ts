import { hash, verify } from '@node-rs/argon2';
import { fairQueue } from '#core/fair-queue.ts';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import type { PasswordHash, PasswordSetter } from '#ports/password-hash.ts';

// RFC 9106's second choice, with less time: 50 to 70 ms on two cores. More makes sign-in slow, less makes guessing cheap.
const parameters = { memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const;
const atOnce = 2; // the cores: more hashes at once take longer each and together
const mostWaiting = 20;
const retryAfter = 2; // seconds

/** The networks that take turns: who has a wide one has 65,536 of the others within it. */
const networksOf = (address: string) => [networkOf(address, 24, 48), networkOf(address, 32, 64)];

/** Tenants that set passwords take turns with the networks that sign in. */
const groupsOf = (setter: PasswordSetter) => ('tid' in setter ? [`tenant ${setter.tid}`, ''] : networksOf(setter.address));

/** An attempt that waits for its turn. */
interface Waiting {
  /** The wide network, and the one within it. */
  readonly networks: readonly string[];
  readonly start: () => void;
  readonly refuse: (cause: Error) => void;
}

const busy = () => new Refusal('signInBusy', undefined, { retryAfter });

/**
 * argon2id off the event loop, two at a time, networks in turn. Beyond twenty that wait one is refused: the newest of the
 * wide network that has most, so that nobody is kept out by another network's attempts.
 * @param cost of one hash: memory in KiB, passes over it, lanes
 */
export function argon2Hash(cost: { memoryCost: number; timeCost: number; parallelism: number } = parameters): PasswordHash {
  const queue = fairQueue<Waiting>();
  const waiting = new Set<Waiting>(); // the same, in the order in which they came
  let running = 0;
  let unknown: Promise<string> | undefined;

  /** How many wait in the wide network, or in the one within it. */
  const crowdOf = (networks: readonly string[], depth: 1 | 2) => queue.count(networks.slice(0, depth));
  /** The newest of the network that has most, where that has more than the newcomer's will. */
  function mostCrowded(among: readonly Waiting[], newcomer: readonly string[], depth: 1 | 2): Waiting | undefined {
    const largest = among.toSorted((a, b) => crowdOf(b.networks, depth) - crowdOf(a.networks, depth))[0];
    return largest && crowdOf(largest.networks, depth) > crowdOf(newcomer, depth) + 1 ? largest : undefined;
  }

  /** Makes room for one more of a network. @throws 503 where that network itself has most */
  function makeRoom(newcomer: readonly string[]): void {
    if (waiting.size < mostWaiting) return;
    const newest = [...waiting].reverse();
    const beside = newest.filter(({ networks }) => networks[0] === newcomer[0]);
    const refused = mostCrowded(newest, newcomer, 1) ?? mostCrowded(beside, newcomer, 2);
    if (!refused) throw busy();
    queue.remove(refused.networks, refused);
    waiting.delete(refused);
    refused.refuse(busy());
  }
  function wait(networks: readonly string[]): Promise<void> {
    makeRoom(networks);
    return new Promise((start, refuse) => {
      const one = { networks, start, refuse };
      queue.add(networks, one);
      waiting.add(one);
    });
  }
  async function inTurn<T>(networks: readonly string[], work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) await wait(networks);
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
    unknown ??= hash('no password of anybody', cost).catch((cause: unknown) => {
      unknown = undefined;
      throw cause;
    });
    const right = await verify(stored ?? (await unknown), password);
    return right && stored !== null;
  }

  return {
    hash: (password, setter) => inTurn(groupsOf(setter), () => hash(password, cost)),
    inTurn: (address, attempt) => inTurn(networksOf(address), () => attempt(verifyStored)),
    waiting: () => waiting.size,
  };
}
