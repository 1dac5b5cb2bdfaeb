import type { PieceMemory } from './piece-memory.ts';

const worthwhile = 1 << 16; // bytes of a write: each costs as much as copying so many

/** Puts small pieces together, so that thousands of small files are not as many writes; the first leaves at once. */
export async function* joinSmallPieces(pieces: AsyncIterable<Buffer>, room: Pick<PieceMemory, 'size'>): AsyncGenerator<Buffer> {
  const together = Buffer.allocUnsafe(Math.min(worthwhile, room.size()));
  const atLeast = together.length;
  let used = 0;
  let first = true;
  for await (const piece of pieces) {
    if (used + piece.length > atLeast) {
      if (used > 0) yield together.subarray(0, used);
      used = 0;
    }
    if (first || piece.length > atLeast) yield piece;
    else used += piece.copy(together, used);
    first = false;
  }
  if (used > 0) yield together.subarray(0, used);
}
