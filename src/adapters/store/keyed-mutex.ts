/** Runs work under keys. Work with a common key does not run at the same time. */
export type RunUnderKeys = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>;

/** Returns the keys, each once, in an order that is the same for all callers: otherwise two of them could deadlock. */
export const inLockOrder = (keys: readonly string[]): string[] => [...new Set(keys)].sort();

/** Returns a function that runs work under several keys, within this process. This suffices for SQLite: no other process uses its file. */
export function multiKeyMutex(): RunUnderKeys {
  const runSerially = keyedMutex();
  return (keys, work) => inLockOrder(keys).reduceRight<typeof work>((inner, key) => () => runSerially(key, inner), work)();
}

/** Returns a function that runs work of the same key one after the other, within this process. */
export function keyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const previous = tails.get(key) ?? Promise.resolve();
    const result = previous.then(work);
    const tail = result.catch(() => {});
    tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
