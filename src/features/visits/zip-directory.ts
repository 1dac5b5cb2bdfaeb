import { deflateRaw, inflateRaw } from 'node:zlib';

/** Runs what calls back with an error or bytes. */
const called = (run: (done: (problem: Error | null, bytes: Buffer) => void) => void) =>
  new Promise<Buffer>((resolve, reject) => run((problem, bytes) => (problem ? reject(problem) : resolve(bytes))));
const chunkSize = 1 << 20; // bytes

/** The directory of an archive that is packed as it is found: kept deflated until the end, a million entries in a few MB. */
export interface ZipDirectory {
  add(entry: Buffer): Promise<void>;
  count(): number;
  /** Bytes of all entries. */
  size(): number;
  pieces(): AsyncGenerator<Buffer>;
}

export function zipDirectory(): ZipDirectory {
  const packed: Buffer[] = [];
  let chunk = Buffer.allocUnsafe(chunkSize);
  let [used, count, size] = [0, 0, 0];
  return {
    async add(entry) {
      if (used + entry.length > chunk.length) {
        packed.push(await called((done) => deflateRaw(chunk.subarray(0, used), { level: 1 }, done)));
        used = 0;
        if (entry.length > chunk.length) chunk = Buffer.allocUnsafe(entry.length);
      }
      used += entry.copy(chunk, used);
      count += 1;
      size += entry.length;
    },
    count: () => count,
    size: () => size,
    async *pieces() {
      for (const part of packed) yield await called((done) => inflateRaw(part, done));
      if (used > 0) yield chunk.subarray(0, used);
    },
  };
}
