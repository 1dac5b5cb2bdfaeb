const copyThreshold = 1 << 14; // bytes: a smaller piece is copied, since its buffer would cost more memory than it holds
const bufferSize = 1 << 16; // bytes of one buffer for small pieces

/** Collects the pieces of a file until there are enough for a write. */
export interface PieceCollector {
  /** Returns the number of collected bytes. */
  size(): number;
  add(piece: Uint8Array): void;
  /** Returns the collected bytes in order, and empties the collector. */
  take(): Uint8Array[];
}

/** Returns an empty collector. */
export function pieceCollector(): PieceCollector {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let buffer = Buffer.alloc(0);
  let [start, end] = [0, 0]; // range of the buffer that is not yet in `pieces`
  function closeBuffer(): void {
    if (end > start) pieces.push(buffer.subarray(start, end));
    start = end;
  }
  function copy(piece: Uint8Array): void {
    if (end === buffer.length) {
      closeBuffer();
      buffer = Buffer.allocUnsafeSlow(bufferSize);
      [start, end] = [0, 0];
    }
    const part = piece.subarray(0, buffer.length - end);
    buffer.set(part, end);
    end += part.length;
    if (part.length < piece.length) copy(piece.subarray(part.length));
  }
  return {
    size: () => size,
    add(piece) {
      size += piece.length;
      if (piece.length < copyThreshold) return copy(piece);
      closeBuffer();
      pieces.push(piece);
    },
    take() {
      closeBuffer();
      const collected = pieces;
      pieces = [];
      size = 0;
      return collected;
    },
  };
}
