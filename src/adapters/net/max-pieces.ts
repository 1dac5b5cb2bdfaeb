/** Returns how many pieces a response may arrive in: many short pieces take much more time than the same bytes in a few pieces. */
export const maxPieces = (bytes: number): number => 500 + bytes / 256;
