const maxBuffer = 1 << 19; // bytes: 64 KiB at a time costs two to three times the CPU
const minBuffer = 1 << 14; // bytes
const totalMemory = 32 << 20; // bytes, shared by the transfers in progress

/** The buffers of a transfer: one is filled while the other is written. */
export type BufferPair = readonly [Buffer, Buffer];

/** Buffers for transfers: large ones for a few transfers, small ones for thousands of slow readers. */
export interface TransferBuffers {
  take(): BufferPair;
  /** @param clean whether no write from the buffers can still be in progress: only then are they reused */
  release(pair: BufferPair, clean: boolean): void;
  /**
   * Reserves memory for a response that is read at once, until its client has received it.
   * @returns a function that releases the memory; null if too much is reserved, so that the response must be sent in pieces
   */
  reserve(bytes: number): (() => void) | null;
}

/** Creates the buffers for all transfers of the process. */
export function transferBuffers(): TransferBuffers {
  const freePairs: BufferPair[] = [];
  let pairsInUse = 0;
  let reservedBytes = 0;
  return {
    reserve(bytes) {
      if (reservedBytes + bytes > totalMemory) return null;
      reservedBytes += bytes;
      return () => {
        reservedBytes -= bytes;
      };
    },
    take() {
      pairsInUse += 1;
      const size = Math.max(minBuffer, Math.min(maxBuffer, 2 ** Math.floor(Math.log2(totalMemory / (2 * pairsInUse)))));
      const reused = size === maxBuffer ? freePairs.pop() : undefined;
      return reused ?? [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)];
    },
    release(pair, clean) {
      pairsInUse -= 1;
      const isLargest = pair[0].length === maxBuffer;
      if (clean && isLargest && freePairs.length < totalMemory / (4 * maxBuffer)) freePairs.push(pair);
    },
  };
}
