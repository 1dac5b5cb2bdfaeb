import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const minute = 60_000; // ms

/** Limits how often clients of one network do something at a login profile. */
export interface NetworkLimit {
  /** Counts one action. @returns false if there were too many in this window */
  admit(address: string, profileId: number): boolean;
  /**
   * Counts one action.
   * @param weight number of actions it counts as; default: 1
   * @throws Refusal (503) with Retry-After if there were too many in this window
   */
  count(address: string, profileId: number, weight?: number): void;
}

/** Returns a limit for this process. @param max how often in each window, for a network and for a wide network */
function networkLimit(clock: Clock, window: number, max: { readonly network: number; readonly wide: number }): NetworkLimit {
  const counts = windowCounts(window, clock.now);
  const admit = (address: string, profileId: number, weight = 1) => {
    const network = counts.add(`${profileId} network ${narrowNetworkOf(address)}`, weight);
    const wide = counts.add(`${profileId} wide ${wideNetworkOf(address)}`, weight);
    return network <= max.network && wide <= max.wide;
  };
  return {
    admit,
    count(address, profileId, weight) {
      if (admit(address, profileId, weight)) return;
      throw new Refusal('signInBusy', undefined, { retryAfter: Math.ceil(counts.remainingTime() / 1000) });
    },
  };
}

/** Returns a limit of new sessions and of attempts to reset a password. Each session needs a row in the database until it expires. */
export const newSessionLimit = (clock: Clock) => networkLimit(clock, minute, { network: 300, wide: 1000 });

/**
 * Returns a limit of requests for a sign-in, a test or a sign-out at a provider. Each may send a request to the provider or write to the
 * database.
 */
export const providerRequestLimit = (clock: Clock) => networkLimit(clock, minute, { network: 300, wide: 1000 });

/** Returns a limit of requests for codes, for a sign-in or a new password: each may send a mail to somebody. */
export const newCodeLimit = (clock: Clock) => networkLimit(clock, 10 * minute, { network: 100, wide: 300 });
