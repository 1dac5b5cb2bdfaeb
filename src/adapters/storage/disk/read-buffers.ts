const maxBuffer = 1 << 20; // bytes: half of it costs a fifth more CPU, and a sixteenth two to three times the CPU
const minBuffer = 1 << 14; // bytes
const totalMemory = 32 << 20; // bytes, shared by all reads in progress

/** The buffers of a read: one is filled while the content of the other is used. */
export type BufferPair = readonly [Buffer, Buffer];

/** Buffers for reading large files, in memory that the threads share: large ones for a few reads, small ones for thousands. */
export class ReadBuffers {
  readonly #free: BufferPair[] = [];
  #inUse = 0;

  take(): BufferPair {
    this.#inUse += 1;
    const size = Math.max(minBuffer, Math.min(maxBuffer, 2 ** Math.floor(Math.log2(totalMemory / (2 * this.#inUse)))));
    const reused = size === maxBuffer ? this.#free.pop() : undefined;
    return reused ?? [Buffer.from(new SharedArrayBuffer(size)), Buffer.from(new SharedArrayBuffer(size))];
  }

  /** @param isUnused whether nothing can still use the buffers, such as a write to a socket: only then are they reused */
  release(pair: BufferPair, isUnused: boolean): void {
    this.#inUse -= 1;
    const isLargest = pair[0].length === maxBuffer;
    if (isUnused && isLargest && this.#free.length < totalMemory / (4 * maxBuffer)) this.#free.push(pair);
  }
}
