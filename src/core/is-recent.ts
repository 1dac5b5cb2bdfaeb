/**
 * Returns whether a time is less than `duration` ago. A time that is `duration` or more in the future was stored by a wrong clock.
 * It does not count as recent, because it would stay recent for too long.
 * @param at ms since the epoch
 * @param duration ms
 */
export const isRecent = (at: number, duration: number, now: number): boolean => Math.abs(now - at) < duration;
