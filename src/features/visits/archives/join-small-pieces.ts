import type { PieceMemory } from './piece-memory.ts';

const maxBufferSize = 1 << 16; // bytes: one write costs as much as copying this many

/** Joins small pieces, so that thousands of small files do not cause as many writes. The first piece is yielded at once. */
export async function* joinSmallPieces(pieces: AsyncIterable<Buffer>, pieceMemory: Pick<PieceMemory, 'size'>): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(maxBufferSize, pieceMemory.size()));
  let used = 0;
  let isFirst = true;
  for await (const piece of pieces) {
    if (used + piece.length > buffer.length) {
      if (used > 0) yield buffer.subarray(0, used);
      used = 0;
    }
    if (isFirst || piece.length > buffer.length) yield piece;
    else used += piece.copy(buffer, used);
    isFirst = false;
  }
  if (used > 0) yield buffer.subarray(0, used);
}
