/** The result of a wait: the value, or `late` if the time limit has passed first. */
export type WaitResult<T> = { readonly late: false; readonly value: T } | { readonly late: true };

/**
 * Waits for work for a limited time. After that, the work continues, and its errors are ignored.
 * @param limit ms
 */
export async function waitAtMost<T>(work: Promise<T>, limit: number): Promise<WaitResult<T>> {
  const timeout = Promise.withResolvers<WaitResult<T>>();
  const timer = setTimeout(() => timeout.resolve({ late: true }), limit);
  try {
    return await Promise.race([work.then((value): WaitResult<T> => ({ late: false, value })), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
