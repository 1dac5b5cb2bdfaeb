/** Runs before or after a method of a port; `method` is a name such as `storage.open`. May wait, or throw an error for the caller. */
export type CallHook = (method: string, parameters: readonly unknown[]) => void | Promise<void>;

/** Methods whose returned object is wrapped, too, and the name of that object. */
const parts: Readonly<Record<string, string>> = {
  'storages.open': 'storage',
  'storage.upload': 'upload',
  'storage.continueUpload': 'upload',
  'storage.open': 'file',
};
const doNothing = () => {};

/**
 * Wraps a real port, and the storages, files and uploads that it opens, so that a test can delay any call or make it fail.
 * @param after called when the promise of a method has resolved, but not for the methods in `parts`: an error would leave the opened object
 * open
 */
export function intercept<T extends object>(port: T, name: string, before: CallHook, after: CallHook = doNothing): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property === 'symbol') return value;
      const method = `${name}.${property}`;
      const part = parts[method];
      return (...parameters: unknown[]) => {
        const hookResult = before(method, parameters);
        const run = (): unknown => Reflect.apply(value, target, parameters);
        const result = hookResult ? hookResult.then(run) : run();
        if (!(result instanceof Promise)) return result;
        if (part === undefined)
          return result.then(async (answer: unknown) => {
            await after(method, parameters);
            return answer;
          });
        return result.then((object: object | null) => object && intercept(object, part, before, after));
      };
    },
  });
}
