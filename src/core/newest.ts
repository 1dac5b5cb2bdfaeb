/** Keeps a value as the newest of a map that holds at most so many: what was kept longest ago goes. */
export function keepNewest<K, V>(kept: Map<K, V>, key: K, value: V, most: number): void {
  kept.delete(key); // a map is in the order in which its keys were set
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
