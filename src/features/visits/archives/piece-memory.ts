const forAll = 32 << 20; // bytes, shared out among the archives under way
const [smallest, largest] = [1 << 14, 1 << 20]; // bytes

/** Memory for the pieces of an archive. */
export interface PieceMemory {
  /** Returns how many bytes a piece may have now: many of a few archives, few of thousands that nobody reads. */
  size(): number;
  /** To be called at the end of the archive. */
  end(): void;
}

/** Returns a function that begins an archive. */
export function pieceMemories(): () => PieceMemory {
  let underWay = 0;
  return () => {
    underWay += 1;
    let ended = false;
    return {
      size: () => Math.max(smallest, Math.min(largest, Math.floor(forAll / underWay))),
      end() {
        if (!ended) underWay -= 1;
        ended = true;
      },
    };
  };
}
