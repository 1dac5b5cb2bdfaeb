/** Time for which a failed attempt counts, in ms. */
export const failureLifetime = 15 * 60_000;

/** Tolerated difference between clocks, in ms. A failure further in the future comes from a wrong clock and does not count. */
export const clockTolerance = 60_000;

/**
 * Number of failures that cause no delay. `pair`: a user and a network; also the second factor of an operator, and a user name in the test
 * of a login profile.
 */
export const freeFailures = { pair: 5, network: 50, wide: 200 } as const;
export type FailureScope = keyof typeof freeFailures;

/** The failures of one key that still count. */
export interface FailureCount {
  readonly scope: FailureScope;
  readonly count: number;
  /** Time of the last failure, in ms since the epoch. */
  readonly lastAt: number;
}

const maxDelay = 300_000; // ms

/** Returns the delay in ms. It doubles with each failure beyond the free ones, from one second to five minutes. */
function delayAfter({ scope, count }: FailureCount): number {
  const surplus = count - freeFailures[scope];
  return surplus <= 0 ? 0 : Math.min(maxDelay, 1000 * 2 ** (surplus - 1));
}

/** Returns the time until the next attempt is accepted, in ms; 0: now. The longest delay of all keys applies. */
export function remainingDelay(failureCounts: readonly FailureCount[], now: number): number {
  const remainingOf = (failures: FailureCount) => {
    const delay = delayAfter(failures);
    // `lastAt` may be later than `now`, since attempts run at the same time. A free failure must not cause a delay even then.
    return delay === 0 ? 0 : failures.lastAt + delay - now;
  };
  return Math.max(0, ...failureCounts.map(remainingOf));
}
