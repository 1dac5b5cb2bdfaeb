/**
 * Returns whether a time is less than `duration` ago. A time that is `duration` or more in the future is not recent: a
 * clock was wrong when it was stored, and the rule that depends on it must not hold for as long as that clock was
 * ahead.
 * @param at ms since the epoch
 * @param duration ms
 */
export const isRecent = (at: number, duration: number, now: number): boolean => Math.abs(now - at) < duration;
