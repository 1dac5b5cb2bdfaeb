const maxBuffer = 1 << 20; // bytes: half of it costs a fifth more CPU, and a sixteenth two to three times the CPU
const minBuffer = 1 << 14; // bytes
const totalMemory = 32 << 20; // bytes, shared by all reads in progress

/** The memory of a read: a thread fills one buffer while the content of the other is used. */
export type BufferPair = readonly [ArrayBuffer, ArrayBuffer];

/** Memory for reading large files: large buffers for a few reads, small ones for thousands. */
export class ReadBuffers {
  readonly #free: BufferPair[] = [];
  #inUse = 0;

  take(): BufferPair {
    this.#inUse += 1;
    const size = Math.max(minBuffer, Math.min(maxBuffer, 2 ** Math.floor(Math.log2(totalMemory / (2 * this.#inUse)))));
    const reused = size === maxBuffer ? this.#free.pop() : undefined;
    return reused ?? [new ArrayBuffer(size), new ArrayBuffer(size)];
  }

  /** @param unused the pair if nothing can still use it, such as a write to a socket: only then is it reused */
  release(unused: BufferPair | null): void {
    this.#inUse -= 1;
    const isLargest = unused?.every(({ byteLength }) => byteLength === maxBuffer);
    if (unused && isLargest && this.#free.length < totalMemory / (4 * maxBuffer)) this.#free.push(unused);
  }
}
