import { randomFillSync, randomInt } from 'node:crypto';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';

export const systemClock: Clock = { now: Date.now };

const poolSize = 4096; // bytes for many tokens: generating random bytes for each token would take longer

/** Returns a source of random tokens and digits. */
export function systemRandom(): Random {
  const pool = Buffer.alloc(poolSize);
  let usedBytes = poolSize;
  return {
    token(bits) {
      const bytes = bits / 8;
      if (usedBytes + bytes > poolSize) {
        randomFillSync(pool);
        usedBytes = 0;
      }
      const tokenBytes = pool.subarray(usedBytes, usedBytes + bytes);
      usedBytes += bytes;
      const token = tokenBytes.toString('base64url');
      tokenBytes.fill(0);
      return token;
    },
    digits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
  };
}
