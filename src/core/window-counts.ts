/** Counts by key within time windows of equal length. */
export interface WindowCounts {
  /** Adds to the count of a key. @param weight default: 1 @returns the count of the key in the current window, this call included */
  add(key: string, weight?: number): number;
  /** Returns the count of the key in the current window. */
  count(key: string): number;
  /** Returns the milliseconds until the current window ends. */
  remainingTime(): number;
}

/**
 * Returns counts that restart at 0 with each window.
 * @param length of a window, in milliseconds
 * @param now returns the time in milliseconds since the epoch
 */
export function windowCounts(length: number, now: () => number): WindowCounts {
  const counts = new Map<string, number>();
  let windowStart = 0;
  const startWindow = () => {
    const time = now();
    const currentStart = time - (time % length);
    if (currentStart !== windowStart) counts.clear();
    windowStart = currentStart;
  };
  return {
    add(key, weight = 1) {
      startWindow();
      const count = (counts.get(key) ?? 0) + weight;
      counts.set(key, count);
      return count;
    },
    count(key) {
      startWindow();
      return counts.get(key) ?? 0;
    },
    remainingTime: () => length - (now() % length),
  };
}
