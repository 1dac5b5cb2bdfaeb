/** Runs before or after a method of a port, named like `storage.open`. It may wait, or throw instead of the result. */
export type CallHook = (method: string, parameters: readonly unknown[]) => void | Promise<void>;

/** Methods that return an object to wrap as well, with the name of that object. */
const parts: Readonly<Record<string, string>> = {
  'storages.open': 'storage',
  'storage.upload': 'upload',
  'storage.continueUpload': 'upload',
  'storage.open': 'file',
};
const nothing = () => {};

/**
 * Wraps a real port, and the files and uploads that it opens, so that a test can delay any of its calls or make it fail.
 * @param after not called for the methods in `parts`: an error would leave the opened object open
 */
export function intercept<T extends object>(port: T, name: string, before: CallHook, after: CallHook = nothing): T {
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
        return result.then((opened: object | null) => opened && intercept(opened, part, before, after));
      };
    },
  });
}
