import { deflateRaw, inflateRaw } from 'node:zlib';
import type { NameMemory } from './name-memory.ts';

/** Runs what calls back with an error or bytes. */
const called = (run: (done: (problem: Error | null, bytes: Buffer) => void) => void) =>
  new Promise<Buffer>((resolve, reject) => run((problem, bytes) => (problem ? reject(problem) : resolve(bytes))));
const [smallest, largest] = [1 << 12, 1 << 16]; // bytes of a part before it is deflated

/** The directory of an archive that is packed as it is found: kept deflated until the end, a million entries in some 20 MB. */
export interface ZipDirectory {
  /** @throws 503 where too much is held already */
  add(entry: Buffer): Promise<void>;
  count(): number;
  /** Bytes of all entries. */
  size(): number;
  pieces(): AsyncGenerator<Buffer>;
  /** To be called at the end, wherever that is. */
  end(): void;
}

export function zipDirectory(memory: NameMemory): ZipDirectory {
  const packed: Buffer[] = [];
  let part = Buffer.allocUnsafe(smallest);
  let [used, count, size, held] = [0, 0, 0, 0];
  async function pack(): Promise<void> {
    const bytes = await called((done) => deflateRaw(part.subarray(0, used), { level: 1 }, done));
    held += bytes.length;
    memory.hold(held);
    packed.push(bytes);
    used = 0;
  }
  function grow(length: number): void {
    const larger = Buffer.allocUnsafe(length);
    part.copy(larger, 0, 0, used);
    part = larger;
  }
  return {
    async add(entry) {
      if (used > 0 && used + entry.length > largest) await pack();
      if (used + entry.length > part.length) grow(Math.max(used + entry.length, 2 * part.length));
      used += entry.copy(part, used);
      count += 1;
      size += entry.length;
    },
    count: () => count,
    size: () => size,
    async *pieces() {
      for (const bytes of packed) yield await called((done) => inflateRaw(bytes, done));
      if (used > 0) yield part.subarray(0, used);
    },
    end: () => memory.hold(0),
  };
}
