/** Adds `change` to the count of a key. Deletes the key when its count becomes 0, so that the map does not grow. */
export function addCount<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Returns the key with the largest count, or the first such key if there are several. @returns undefined if there is no count */
export function largestKey(counts: ReadonlyMap<string, number>): string | undefined {
  let [largest, largestCount]: [string | undefined, number] = [undefined, Number.NEGATIVE_INFINITY];
  for (const [key, count] of counts) if (count > largestCount) [largest, largestCount] = [key, count];
  return largest;
}
