import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const minute = 60_000; // ms
const maxPerMinute = 300;

/** Limits the number of new tokens of a key: each needs a row in the database until it expires. */
export interface NewTokenLimit {
  /** Counts a new token. @throws Refusal (503) with Retry-After if there were too many in this minute */
  count(keyId: number): void;
}

/** Returns a limit of new tokens for this process. */
export function newTokenLimit(clock: Clock): NewTokenLimit {
  const counts = windowCounts(minute, clock.now);
  return {
    count(keyId) {
      if (counts.add(`${keyId}`) <= maxPerMinute) return;
      throw new Refusal('signInBusy', undefined, { retryAfter: Math.ceil(counts.remainingTime() / 1000) });
    },
  };
}
