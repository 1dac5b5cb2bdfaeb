/**
 * Returns a function that runs work with limited concurrency.
 * @param maxConcurrent how many calls of `work` may run at the same time
 * @param takeNext removes the next request from the queue and returns the function that starts it; undefined if no request waits
 * @returns a function that runs `work`. If no slot is free, it awaits `wait()` first: that promise must
 *   resolve when the turn of the request has come, and reject if the request is refused.
 */
export function concurrencyLimit(maxConcurrent: number, takeNext: () => (() => void) | undefined) {
  let running = 0;
  return async <T>(wait: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
    if (running >= maxConcurrent) await wait();
    else running += 1;
    try {
      return await work();
    } finally {
      const startNext = takeNext();
      if (startNext) startNext();
      else running -= 1;
    }
  };
}
