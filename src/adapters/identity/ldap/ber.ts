import { DirectoryUnavailable } from '#ports/directory.ts';

/** An element of BER: a tag, a length and a content (X.690, 8.1). */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** Where the next element begins. */
  readonly end: number;
}

/** Returns start and end of an element's content, or null if its length is incomplete. @throws DirectoryUnavailable if it is malformed */
export function contentRange(bytes: Buffer, at: number): { readonly start: number; readonly end: number } | null {
  const first = bytes[at + 1];
  if (first === undefined) return null;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > 4) throw new DirectoryUnavailable('The directory sent a malformed response.');
  const start = at + 2 + lengthBytes;
  if (bytes.length < start) return null;
  return { start, end: start + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)) };
}

/** Returns the element at a position, or null if more bytes are needed. @throws DirectoryUnavailable if it is malformed */
export function elementAt(bytes: Buffer, at: number): Element | null {
  const [tag, range] = [bytes[at], contentRange(bytes, at)];
  if (tag === undefined || !range || bytes.length < range.end) return null;
  return { tag, content: bytes.subarray(range.start, range.end), end: range.end };
}

const constructed = 0x20; // bit of a tag whose content consists of elements

/** Returns the number of elements in `bytes`, also nested ones. Stops above `max`. @throws DirectoryUnavailable if they are malformed */
export function countElements(bytes: Buffer, max: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= max; count += 1) {
    const range = contentRange(bytes, at);
    if (!range || range.end > bytes.length) throw new DirectoryUnavailable('The directory sent a malformed response.');
    at = ((bytes[at] ?? 0) & constructed) === 0 ? range.end : range.start;
  }
  return count;
}
