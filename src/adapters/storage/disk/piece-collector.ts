const small = 1 << 14; // bytes: below, a piece is copied, since its buffer would cost more memory than it holds
const room = 1 << 16; // bytes for small pieces, at one time

/** Collects the pieces of a file until they are worth a write. */
export interface PieceCollector {
  /** How many bytes are collected. */
  size(): number;
  add(piece: Uint8Array): void;
  /** Returns what is collected, in order, and begins anew. */
  take(): Uint8Array[];
}

export function pieceCollector(): PieceCollector {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let buffer = Buffer.alloc(0);
  let [begin, end] = [0, 0]; // of the small pieces in the buffer that are not among the pieces yet
  function closeBuffer(): void {
    if (end > begin) pieces.push(buffer.subarray(begin, end));
    begin = end;
  }
  function copy(piece: Uint8Array): void {
    if (end === buffer.length) {
      closeBuffer();
      buffer = Buffer.allocUnsafeSlow(room);
      [begin, end] = [0, 0];
    }
    const fitting = piece.subarray(0, buffer.length - end);
    buffer.set(fitting, end);
    end += fitting.length;
    if (fitting.length < piece.length) copy(piece.subarray(fitting.length));
  }
  return {
    size: () => size,
    add(piece) {
      size += piece.length;
      if (piece.length < small) return copy(piece);
      closeBuffer();
      pieces.push(piece);
    },
    take() {
      closeBuffer();
      const taken = pieces;
      pieces = [];
      size = 0;
      return taken;
    },
  };
}
