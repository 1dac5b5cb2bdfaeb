/**
 * Sets a value as the newest entry of a map that holds at most `maxSize` entries. When the map exceeds that, deletes the oldest
 * eighth in one step: to reach its first key, a map walks over the slots of deleted keys, so deleting one key at a
 * time would cost several us each in a large map.
 */
export function setAndEvict<K, V>(map: Map<K, V>, key: K, value: V, maxSize: number): void {
  map.delete(key); // a map iterates in insertion order: setting an existing key would keep its old position
  map.set(key, value);
  if (map.size <= maxSize) return;
  let surplus = Math.ceil(maxSize / 8);
  for (const oldest of map.keys()) {
    map.delete(oldest);
    surplus -= 1;
    if (surplus === 0) return;
  }
}
