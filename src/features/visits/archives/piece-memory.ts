const totalBytes = 32 << 20; // shared by all archives that are being sent; more than 1024 archives need more than this
const piecesOfArchive = 2; // one is sent while the next one is read
const [minPiece, maxPiece] = [1 << 14, 1 << 20]; // bytes

/** Memory for the pieces of an archive. */
export interface PieceMemory {
  /** Returns how many bytes a piece may have now: large if few archives are being sent, small if there are thousands. */
  size(): number;
  /** Must be called at the end of the archive. */
  end(): void;
}

export function pieceMemories(): () => PieceMemory {
  let archives = 0;
  return () => {
    archives += 1;
    let isEnded = false;
    return {
      size: () => Math.max(minPiece, Math.min(maxPiece, Math.floor(totalBytes / (piecesOfArchive * archives)))),
      end() {
        if (!isEnded) archives -= 1;
        isEnded = true;
      },
    };
  };
}
