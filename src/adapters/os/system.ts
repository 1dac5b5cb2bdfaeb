import { randomFillSync } from 'node:crypto';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';

export const systemClock: Clock = { now: Date.now };

const drawn = 4096; // bytes: a draw from the kernel costs more than a token

/** Random bytes of the kernel, drawn many at a time; each is given out once and then forgotten. */
export function systemRandom(): Random {
  const pool = Buffer.alloc(drawn);
  let used = drawn;
  return {
    token(bits) {
      const bytes = bits / 8;
      if (used + bytes > drawn) {
        randomFillSync(pool);
        used = 0;
      }
      const taken = pool.subarray(used, used + bytes);
      used += bytes;
      const token = taken.toString('base64url');
      taken.fill(0);
      return token;
    },
  };
}
