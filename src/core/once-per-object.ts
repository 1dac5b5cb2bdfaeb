/** Returns a function that computes a result once for each object, and forgets it with the object. The object must not change. */
export function oncePerObject<K extends object, V extends object | string>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, V>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(key);
    results.set(key, result);
    return result;
  };
}
