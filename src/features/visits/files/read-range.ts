import type { ByteRange, OpenFile } from '#ports/storage.ts';

/**
 * Copies the bytes of a range into a buffer of at least its length.
 * @throws as `OpenFile.read`
 */
export async function readInto(file: OpenFile, { start, end }: ByteRange, buffer: Uint8Array): Promise<void> {
  let position = 0;
  for await (const piece of file.read({ start, end })) {
    buffer.set(piece, position);
    position += piece.length;
  }
}

/** Returns the bytes of a small range. @throws as `readInto` */
export async function readRange(file: OpenFile, range: ByteRange): Promise<Uint8Array> {
  if (file.content) return file.content.subarray(range.start, range.end + 1);
  const bytes = Buffer.allocUnsafe(Math.max(0, range.end - range.start + 1));
  await readInto(file, range, bytes);
  return bytes;
}
