const mostBytes = 32 << 20; // in all
const largest = 1 << 16; // bytes of one
const overhead = 1 << 10; // bytes that keeping one takes beside its own: a million files of one byte are not a million bytes

/** Small files of one folder that are asked for again and again, by path. */
export interface SmallFiles<File> {
  get(path: string): File | null;
  keep(path: string, file: File, bytes: number): void;
}

/** Small files of all folders; the one that was kept first goes first. */
export interface SmallFileCache<File> {
  /** For a folder that has just been opened: what was kept of another at the same path is not its own. */
  forFolder(): SmallFiles<File>;
}

export function smallFileCache<File>(): SmallFileCache<File> {
  const kept = new Map<string, { file: File; bytes: number }>();
  let total = 0;
  let folders = 0;
  const forget = (key: string) => {
    total -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  function keep(key: string, file: File, bytes: number): void {
    forget(key);
    if (bytes > largest) return;
    const weight = bytes + overhead + 2 * key.length;
    kept.set(key, { file, bytes: weight });
    total += weight;
    for (const oldest of kept.keys()) {
      if (total <= mostBytes) return;
      forget(oldest);
    }
  }
  return {
    forFolder() {
      folders += 1;
      const prefix = `${folders}/`;
      return {
        get: (path) => kept.get(prefix + path)?.file ?? null,
        keep: (path, file, bytes) => keep(prefix + path, file, bytes),
      };
    },
  };
}
