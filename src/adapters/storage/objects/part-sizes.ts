/** Bytes of a part of a large upload. All but the last must have at least 5 MiB, and there may be 10,000. */
export const smallestPart = 8 << 20;
const maxParts = 10_000;
/** Sizes of the parts of an upload of unknown length, from this number of sent parts on: 2.7 TiB together. Few services need equal parts. */
const growingParts = [
  { from: 5000, size: 512 << 20 },
  { from: 1000, size: 64 << 20 },
];

/** Returns the size of the next part. @param size of the file; null: unknown */
export function nextPartSize(size: number | null, sentParts: number): number {
  if (size !== null) return Math.max(smallestPart, Math.ceil(size / maxParts));
  return growingParts.find(({ from }) => sentParts >= from)?.size ?? smallestPart;
}
