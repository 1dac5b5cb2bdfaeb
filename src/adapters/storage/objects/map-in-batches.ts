const requestsAtOnce = 16;

/**
 * Runs work for each item, sixteen at a time. If a call fails, rejects only when the other calls of its batch have ended, so that none of
 * them can change anything later.
 * @returns the results in the order of the items
 */
export async function mapInBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += requestsAtOnce) {
    const batch = items.slice(start, start + requestsAtOnce).map(work);
    await Promise.allSettled(batch);
    results.push(...(await Promise.all(batch)));
  }
  return results;
}
