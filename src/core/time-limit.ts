/** What a wait ended with: the value, or `late` if the time was over before. */
export type InTime<T> = { readonly late: false; readonly value: T } | { readonly late: true };

/**
 * Waits for work for a limited time. The work goes on after that; its error is ignored then.
 * @param limit ms
 */
export async function inTime<T>(work: Promise<T>, limit: number): Promise<InTime<T>> {
  const timeout = Promise.withResolvers<InTime<T>>();
  const timer = setTimeout(() => timeout.resolve({ late: true }), limit);
  try {
    return await Promise.race([work.then((value): InTime<T> => ({ late: false, value })), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
