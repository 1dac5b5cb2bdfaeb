/** Returns the number of pieces in which bytes may come: a response that comes byte by byte costs much more than its bytes. */
export const maxPieces = (bytes: number): number => 500 + bytes / 256;
