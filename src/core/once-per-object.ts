/**
 * Returns a function that computes the result for each object once. It stores the result as long as the object exists.
 * The object must not change.
 */
export function oncePerObject<K extends object, V extends object | string>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, V>();
  return (key) => {
    const storedResult = results.get(key);
    if (storedResult !== undefined) return storedResult;
    const result = compute(key);
    results.set(key, result);
    return result;
  };
}
