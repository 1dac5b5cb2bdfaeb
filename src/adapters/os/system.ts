import { randomBytes } from 'node:crypto';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';

export const systemClock: Clock = { now: Date.now };
export const systemRandom: Random = { token: (bits) => randomBytes(bits / 8).toString('base64url') };
