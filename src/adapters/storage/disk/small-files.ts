import { LRUCache } from 'lru-cache';

const maxBytes = 32 << 20; // of all files
const maxFileBytes = 1 << 16; // of one file
const overhead = 1 << 10; // bytes of memory per entry in addition to the file itself: a million files of one byte need far more than 1 MB

/** Cache of the small files in one folder of a location and its subfolders, by path. */
export interface SmallFiles<File> {
  get(path: string): File | null;
  set(path: string, file: File, bytes: number): void;
}

/** Cache of the small files of all folders. It evicts the file that was not used for the longest time. */
export interface SmallFileCache<File> {
  /** Returns an empty cache for a folder that was just opened. It must not return files of an earlier folder at the same path. */
  forFolder(): SmallFiles<File>;
}

/** Returns an empty cache that holds up to 32 MiB. */
export function smallFileCache<File extends object>(): SmallFileCache<File> {
  const files = new LRUCache<string, File>({ maxSize: maxBytes });
  let folderCount = 0;
  return {
    forFolder() {
      folderCount += 1;
      const prefix = `${folderCount}/`;
      return {
        get: (path) => files.get(prefix + path) ?? null,
        set(path, file, bytes) {
          const key = prefix + path;
          if (bytes <= maxFileBytes) files.set(key, file, { size: bytes + overhead + 2 * key.length });
          else files.delete(key);
        },
      };
    },
  };
}
