/**
 * The smallest size of all parts of a large upload but the last, in bytes. S3 requires at least 5 MiB for every part
 * but the last, and accepts at most 10,000 parts.
 */
export const smallestPart = 8 << 20;
/** The most parts of an upload. */
export const maxParts = 10_000;
/**
 * Part sizes of an upload of unknown length, by the number of parts that were sent before. 10,000
 * parts have 2.7 TiB together. Most services accept parts of different sizes.
 */
const growingParts = [
  { from: 5000, size: 512 << 20 },
  { from: 1000, size: 64 << 20 },
];

/** Returns the size of the next part. @param size of the file; null: unknown */
export function nextPartSize(size: number | null, sentParts: number): number {
  if (size !== null) return Math.max(smallestPart, Math.ceil(size / maxParts));
  return growingParts.find(({ from }) => sentParts >= from)?.size ?? smallestPart;
}
