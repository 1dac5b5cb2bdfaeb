import { deflateRaw, inflateRaw } from 'node:zlib';
import type { NameMemory } from './name-memory.ts';

/** Runs a function that takes a callback. @returns a promise for its result */
const toPromise = (run: (callback: (error: Error | null, bytes: Buffer) => void) => void) =>
  new Promise<Buffer>((resolve, reject) => run((error, bytes) => (error ? reject(error) : resolve(bytes))));
const [minPart, maxPart] = [1 << 12, 1 << 16]; // bytes of the buffer for a part: at first, and at most, unless one entry is longer

/** The central directory of an archive without a plan. It is stored deflated until the end: a million entries take some 20 MB. */
export interface ZipDirectory {
  /** Adds the entry of a file or folder. @throws Refusal (503) if the archives that are being created need too much memory for names */
  add(entry: Buffer): Promise<void>;
  count(): number;
  /** Returns the total size of all entries, in bytes. */
  size(): number;
  pieces(): AsyncGenerator<Buffer>;
  /** Must be called at the end, even after an error. */
  end(): void;
}

export function zipDirectory(nameMemory: NameMemory): ZipDirectory {
  const deflatedParts: Buffer[] = [];
  let part = Buffer.allocUnsafe(minPart);
  let [used, count, size, deflatedBytes] = [0, 0, 0, 0];
  async function deflatePart(): Promise<void> {
    const bytes = await toPromise((callback) => deflateRaw(part.subarray(0, used), { level: 1 }, callback));
    deflatedBytes += bytes.length;
    nameMemory.setBytes(deflatedBytes);
    deflatedParts.push(bytes);
    used = 0;
  }
  function growPart(length: number): void {
    const larger = Buffer.allocUnsafe(length);
    part.copy(larger, 0, 0, used);
    part = larger;
  }
  return {
    async add(entry) {
      if (used > 0 && used + entry.length > maxPart) await deflatePart();
      if (used + entry.length > part.length) growPart(Math.max(used + entry.length, 2 * part.length));
      used += entry.copy(part, used);
      count += 1;
      size += entry.length;
    },
    count: () => count,
    size: () => size,
    async *pieces() {
      for (const bytes of deflatedParts) yield await toPromise((callback) => inflateRaw(bytes, callback));
      if (used > 0) yield part.subarray(0, used);
    },
    end: () => nameMemory.setBytes(0),
  };
}
