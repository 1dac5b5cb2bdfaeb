/** How long a failed attempt counts, in milliseconds (visit.md, Sessions). */
export const failuresCountFor = 15 * 60_000;

/** By how much clocks may differ, in milliseconds. A failure further ahead was noted by a clock that was wrong, and does not count. */
export const clockTolerance = 60_000;

/** Failures that cost nothing: by pair of user and network, by network, by the wider network around it. */
export const freeFailures = { pair: 5, network: 50, wide: 200 } as const;
export type FailureScope = keyof typeof freeFailures;

/** What is known of one key: failures that still count, and when the last one was (ms since the epoch). */
export interface FailureCount {
  readonly scope: FailureScope;
  readonly count: number;
  readonly lastAt: number;
}

const longestWait = 300_000;

/** The wait doubles with each failure beyond the free ones, from one second to five minutes. @returns ms */
function waitAfter({ scope, count }: FailureCount): number {
  const beyond = count - freeFailures[scope];
  return beyond <= 0 ? 0 : Math.min(longestWait, 1000 * 2 ** (beyond - 1));
}

/** Milliseconds until an attempt is looked at; 0: now. */
export function remainingDelay(known: readonly FailureCount[], now: number): number {
  const left = (failures: FailureCount) => {
    const wait = waitAfter(failures);
    // A free failure costs nothing, even one that another attempt noted a moment later than `now`.
    return wait === 0 ? 0 : failures.lastAt + wait - now;
  };
  return Math.max(0, ...known.map(left));
}
