/** Counts by key within windows of equal length. */
export interface WindowCounts {
  /** @returns how often the key was counted in the present window, this time included */
  add(key: string): number;
  /** @returns how often the key was counted in the present window */
  count(key: string): number;
  /** Milliseconds until the present window ends. */
  left(): number;
}

/** @param length of a window, ms. @param now the time, ms since the epoch */
export function windowCounts(length: number, now: () => number): WindowCounts {
  const counts = new Map<string, number>();
  let began = 0;
  const begin = () => {
    const time = now();
    const present = time - (time % length);
    if (present !== began) counts.clear();
    began = present;
  };
  return {
    add(key) {
      begin();
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
    count(key) {
      begin();
      return counts.get(key) ?? 0;
    },
    left: () => length - (now() % length),
  };
}
