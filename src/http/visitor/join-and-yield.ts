const maxPiece = 1 << 14; // bytes

/**
 * Joins small pieces, and lets the event loop run after each joined piece. The headers of empty files need no disk
 * access: writing thirty thousand of them one by one blocked the event loop for 0.6 s.
 * @param pieces each may be overwritten when the next one is requested. This is also true of the pieces that this function yields
 */
export async function* joinAndYield(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let buffer: Buffer | null = null;
  let used = 0;
  for await (const piece of pieces) {
    if (buffer && used > 0 && used + piece.length > maxPiece) {
      yield buffer.subarray(0, used);
      used = 0;
      await new Promise(setImmediate);
    }
    if (piece.length >= maxPiece) yield piece;
    else {
      buffer ??= Buffer.allocUnsafe(maxPiece);
      used += piece.copy(buffer, used);
    }
  }
  if (buffer && used > 0) yield buffer.subarray(0, used);
}
