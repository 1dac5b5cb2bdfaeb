const totalMemory = 32 << 20; // bytes

/** Memory for small files and ranges that are read completely before they are sent. All such responses share one limit. */
export interface ResponseMemory {
  /**
   * Reserves memory for a response, to be released when the response has been sent.
   * @returns a function that releases the memory; null if too much is reserved, so that the response must be sent in pieces
   */
  reserve(bytes: number): (() => void) | null;
}

export function responseMemory(): ResponseMemory {
  let reservedBytes = 0;
  return {
    reserve(bytes) {
      if (reservedBytes + bytes > totalMemory) return null;
      reservedBytes += bytes;
      return () => {
        reservedBytes -= bytes;
      };
    },
  };
}
