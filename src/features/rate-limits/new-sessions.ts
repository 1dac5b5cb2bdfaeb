import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const minute = 60_000; // ms
/** A minute, at one login profile. */
const most = { network: 300, wide: 1000 };

/** Bounds how many sessions begin: each is a row in the database for as long as it may be used. */
export interface NewSessions {
  /** @throws 503 with Retry-After where too many have begun */
  take(address: string, profileId: number): void;
}

export function newSessions(clock: Clock): NewSessions {
  const begun = windowCounts(minute, clock.now);
  return {
    take(address, profileId) {
      const network = begun.add(`${profileId} network ${networkOf(address, 32, 64)}`);
      const wide = begun.add(`${profileId} wide ${networkOf(address, 24, 48)}`);
      if (network <= most.network && wide <= most.wide) return;
      throw new Refusal('signInBusy', undefined, { retryAfter: Math.ceil(begun.left() / 1000) });
    },
  };
}
