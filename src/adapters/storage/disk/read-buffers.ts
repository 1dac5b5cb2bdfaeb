const maxBuffer = 1 << 20; // bytes: buffers of 512 KiB cost 20 % more CPU, buffers of 64 KiB two to three times as much
const minBuffer = 1 << 14; // bytes
const totalMemory = 32 << 20; // bytes, from which a new read gets an equal share. Earlier reads keep larger buffers: the sum can be larger

/** The memory of a read: a thread fills one buffer while the content of the other is used. */
export type BufferPair = readonly [ArrayBuffer, ArrayBuffer];

/** Memory for reading large files: large buffers for a few reads, small ones for thousands. */
export class ReadBuffers {
  readonly #free: BufferPair[] = [];
  #inUse = 0;

  take(): BufferPair {
    this.#inUse += 1;
    const size = Math.max(minBuffer, Math.min(maxBuffer, 2 ** Math.floor(Math.log2(totalMemory / (2 * this.#inUse)))));
    const pair = size === maxBuffer ? this.#free.pop() : undefined;
    return pair ?? [new ArrayBuffer(size), new ArrayBuffer(size)];
  }

  /** @param unused the pair, which a later read may reuse; null: the pair is not reused, because a thread or a socket may still use it */
  release(unused: BufferPair | null): void {
    this.#inUse -= 1;
    const isLargest = unused?.every(({ byteLength }) => byteLength === maxBuffer);
    if (unused && isLargest && this.#free.length < totalMemory / (4 * maxBuffer)) this.#free.push(unused);
  }
}
