const maxBytes = 32 << 20; // of all files
const maxFileBytes = 1 << 16; // of one file
const overhead = 1 << 10; // bytes of memory per entry beside the file itself: a million files of one byte need far more than 1 MB

/** Cache of the small files of one folder, by path. */
export interface SmallFiles<File> {
  get(path: string): File | null;
  set(path: string, file: File, bytes: number): void;
}

/** Cache of the small files of all folders. It evicts the entry that was added first. */
export interface SmallFileCache<File> {
  /** Returns an empty cache for a folder that was just opened: files of an earlier folder at the same path are not its own. */
  forFolder(): SmallFiles<File>;
}

/** Returns an empty cache that holds up to 32 MiB. */
export function smallFileCache<File>(): SmallFileCache<File> {
  const cached = new Map<string, { file: File; weight: number }>();
  let totalWeight = 0; // bytes
  let folderCount = 0;
  const evict = (key: string) => {
    totalWeight -= cached.get(key)?.weight ?? 0;
    cached.delete(key);
  };
  function add(key: string, file: File, bytes: number): void {
    evict(key);
    if (bytes > maxFileBytes) return;
    const weight = bytes + overhead + 2 * key.length;
    cached.set(key, { file, weight });
    totalWeight += weight;
    for (const oldest of cached.keys()) {
      if (totalWeight <= maxBytes) return;
      evict(oldest);
    }
  }
  return {
    forFolder() {
      folderCount += 1;
      const prefix = `${folderCount}/`;
      return {
        get: (path) => cached.get(prefix + path)?.file ?? null,
        set: (path, file, bytes) => add(prefix + path, file, bytes),
      };
    },
  };
}
