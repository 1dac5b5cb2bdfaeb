/**
 * Runs work in a few places at once.
 * @param atOnce how many places there are
 * @param next takes the caller whose turn it is from those that wait, and returns what starts it; undefined: none waits
 * @returns runs work in a place; `wait` ends when its turn has come, and throws where it is refused
 */
export function concurrencyLimit(atOnce: number, next: () => (() => void) | undefined) {
  let running = 0;
  return async <T>(wait: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) await wait();
    else running += 1;
    try {
      return await work();
    } finally {
      const start = next();
      if (start) start();
      else running -= 1;
    }
  };
}
