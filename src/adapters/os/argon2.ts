import { hash, verify } from '@node-rs/argon2';
import { Refusal } from '#core/messages.ts';
import type { PasswordHash } from '#ports/password-hash.ts';

// RFC 9106's second choice, with less time: 50 to 70 ms on two cores. More makes sign-in slow, less makes guessing cheap.
const parameters = { memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const;
const atOnce = 2; // the cores: more hashes at once take longer each and together
const mostWaiting = 20;
const retryAfter = 2; // seconds

/**
 * argon2id off the event loop, two at a time; a further one beyond twenty that wait is refused.
 * @param cost of one hash: memory in KiB, passes over it, lanes
 */
export function argon2Hash(cost: { memoryCost: number; timeCost: number; parallelism: number } = parameters): PasswordHash {
  let running = 0;
  const waiting: (() => void)[] = [];
  let unknown: Promise<string> | undefined;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting) throw new Refusal('signInBusy', undefined, { retryAfter });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    hash: (password) => inTurn(() => hash(password, cost)),
    verify: async (stored, password) => {
      unknown ??= hash('no password of anybody', cost);
      const against = stored ?? (await unknown);
      const right = await inTurn(() => verify(against, password));
      return right && stored !== null;
    },
  };
}
