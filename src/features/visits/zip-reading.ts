import type { OpenFile } from '#ports/storage.ts';

/** Reads until `into` is full or the file ends. @returns bytes read */
export async function fillFrom(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const read = await file.read(into.subarray(filled), position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}
