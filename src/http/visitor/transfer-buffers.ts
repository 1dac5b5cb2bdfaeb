const largest = 1 << 19; // bytes: 64 KiB at a time costs two to three times the CPU
const smallest = 1 << 14;
const forAll = 32 << 20; // shared out among the transfers under way

/** A transfer's buffers: one is read into while the other is written. */
export type BufferPair = readonly [Buffer, Buffer];

/** Buffers for transfers: large for a few, small for thousands who read slowly. */
export interface TransferBuffers {
  take(): BufferPair;
  /** @param clean whether nothing that was written from them can still be on its way: only then are they used again */
  giveBack(pair: BufferPair, clean: boolean): void;
  /**
   * Reserves memory for an answer that is read as a whole, until its client has taken it.
   * @returns to be called when it has; null: others hold too much, and it is to be sent in pieces
   */
  reserve(bytes: number): (() => void) | null;
}

export function transferBuffers(): TransferBuffers {
  const spare: BufferPair[] = [];
  let taken = 0;
  let reserved = 0;
  return {
    reserve(bytes) {
      if (reserved + bytes > forAll) return null;
      reserved += bytes;
      return () => {
        reserved -= bytes;
      };
    },
    take() {
      taken += 1;
      const size = Math.max(smallest, Math.min(largest, 2 ** Math.floor(Math.log2(forAll / (2 * taken)))));
      const known = size === largest ? spare.pop() : undefined;
      return known ?? [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)];
    },
    giveBack(pair, clean) {
      taken -= 1;
      const isLargest = pair[0].length === largest;
      if (clean && isLargest && spare.length < forAll / (4 * largest)) spare.push(pair);
    },
  };
}
