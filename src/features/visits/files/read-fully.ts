import type { OpenFile } from '#ports/storage.ts';

/** Reads until the buffer is full or the file ends. @returns the number of bytes read */
export async function readFully(file: OpenFile, buffer: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const read = await file.read(buffer.subarray(filled), position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/** Returns a function that returns the same memory on every call, for one file after another. Each call invalidates the previous buffer. */
export function reusedBuffer(): (bytes: number) => Buffer {
  let buffer = Buffer.alloc(0);
  return (bytes) => {
    if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes);
    return buffer.subarray(0, bytes);
  };
}
