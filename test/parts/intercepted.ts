/** Runs before a method of a port, named as `storage.open`: it may wait, or throw in the method's place. */
export type Before = (method: string) => void | Promise<void>;

/** Methods whose result is a part of its own, and that part's name. */
const parts: Readonly<Record<string, string>> = { 'storages.open': 'storage', 'storage.upload': 'upload', 'storage.open': 'file' };

/** Wraps a real port, and the files and uploads that it opens, so that a test can hold up or fail any of its calls. */
export function intercepted<T extends object>(port: T, name: string, before: Before): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property === 'symbol') return value;
      const method = `${name}.${property}`;
      const part = parts[method];
      return (...parameters: unknown[]) => {
        const waited = before(method);
        const run = (): unknown => Reflect.apply(value, target, parameters);
        const result = waited ? waited.then(run) : run();
        if (part === undefined || !(result instanceof Promise)) return result;
        return result.then((opened: object | null) => opened && intercepted(opened, part, before));
      };
    },
  });
}
