const mostBytes = 16 << 20; // in all
const largest = 1 << 16; // bytes of one
const overhead = 1 << 10; // bytes that keeping one takes beside its own: a million files of one byte are not a million bytes

/** Small files that are asked for again and again, by path; the one that was kept first goes first. */
export interface SmallFiles<File> {
  get(path: string): File | null;
  keep(path: string, file: File, bytes: number): void;
}

export function smallFiles<File>(): SmallFiles<File> {
  const kept = new Map<string, { file: File; bytes: number }>();
  let total = 0;
  const forget = (path: string) => {
    total -= kept.get(path)?.bytes ?? 0;
    kept.delete(path);
  };
  return {
    get: (path) => kept.get(path)?.file ?? null,
    keep(path, file, bytes) {
      forget(path);
      if (bytes > largest) return;
      kept.set(path, { file, bytes: bytes + overhead });
      total += bytes + overhead;
      for (const oldest of kept.keys()) {
        if (total <= mostBytes) return;
        forget(oldest);
      }
    },
  };
}
