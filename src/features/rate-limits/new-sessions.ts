import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const minute = 60_000; // ms
/** Sessions per minute at one login profile, for a network and for a wide network. */
const maxPerMinute = { network: 300, wide: 1000 };

/** Limits the number of new sessions: each needs a row in the database until it expires. */
export interface NewSessionLimit {
  /** Counts a new session. @throws 503 with Retry-After if there were too many in this minute */
  count(address: string, profileId: number): void;
}

/** Returns a limit of new sessions for this process. */
export function newSessionLimit(clock: Clock): NewSessionLimit {
  const counts = windowCounts(minute, clock.now);
  return {
    count(address, profileId) {
      const network = counts.add(`${profileId} network ${narrowNetworkOf(address)}`);
      const wide = counts.add(`${profileId} wide ${wideNetworkOf(address)}`);
      if (network <= maxPerMinute.network && wide <= maxPerMinute.wide) return;
      throw new Refusal('signInBusy', undefined, { retryAfter: Math.ceil(counts.remainingTime() / 1000) });
    },
  };
}
