import { randomFillSync, randomInt } from 'node:crypto';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';

export const systemClock: Clock = { now: Date.now };

const poolSize = 4096; // bytes: one call to the kernel costs more than a token

/** Returns a source of random tokens and digits. A token uses bytes of a block from the kernel, each once, and overwrites them. */
export function systemRandom(): Random {
  const pool = Buffer.alloc(poolSize);
  let used = poolSize;
  return {
    token(bits) {
      const bytes = bits / 8;
      if (used + bytes > poolSize) {
        randomFillSync(pool);
        used = 0;
      }
      const tokenBytes = pool.subarray(used, used + bytes);
      used += bytes;
      const token = tokenBytes.toString('base64url');
      tokenBytes.fill(0);
      return token;
    },
    digits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
  };
}
