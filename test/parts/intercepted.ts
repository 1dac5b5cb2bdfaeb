/** Runs before or after a method of a port, named as `storage.open`: it may wait, or throw in place of the result. */
export type Around = (method: string, parameters: readonly unknown[]) => void | Promise<void>;

/** Methods whose result is a part of its own, and that part's name. */
const parts: Readonly<Record<string, string>> = { 'storages.open': 'storage', 'storage.upload': 'upload', 'storage.open': 'file' };
const nothing = () => {};

/**
 * Wraps a real port, and the files and uploads that it opens, so that a test can hold up or fail any of its calls.
 * @param after not called for what opens a part: an error there would leave it open
 */
export function intercepted<T extends object>(port: T, name: string, before: Around, after: Around = nothing): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property === 'symbol') return value;
      const method = `${name}.${property}`;
      const part = parts[method];
      return (...parameters: unknown[]) => {
        const waited = before(method, parameters);
        const run = (): unknown => Reflect.apply(value, target, parameters);
        const result = waited ? waited.then(run) : run();
        if (!(result instanceof Promise)) return result;
        if (part === undefined)
          return result.then(async (answer: unknown) => {
            await after(method, parameters);
            return answer;
          });
        return result.then((opened: object | null) => opened && intercepted(opened, part, before, after));
      };
    },
  });
}
