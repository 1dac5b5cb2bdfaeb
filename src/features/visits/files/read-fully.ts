import type { OpenFile } from '#ports/storage.ts';

/** Reads until `into` is full or the file ends. @returns bytes read */
export async function readFully(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const read = await file.read(into.subarray(filled), position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/** One buffer for one file after another: what was read into it has left by the time the next is asked for. */
export function reusedBuffer(): (bytes: number) => Buffer {
  let buffer = Buffer.alloc(0);
  return (bytes) => {
    if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes);
    return buffer.subarray(0, bytes);
  };
}
