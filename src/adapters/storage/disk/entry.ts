import type { BigIntStats } from 'node:fs';
import { latestInstant } from '#core/instant.ts';
import type { DatedEntry } from '#core/listing.ts';

const toBase36 = (value: bigint) => value.toString(36);

/** Returns a strong validator, made of inode, size and times in nanoseconds. */
export const diskEtag = (stat: BigIntStats) =>
  `"${toBase36(stat.ino)}-${toBase36(stat.size)}-${toBase36(stat.mtimeNs)}-${toBase36(stat.ctimeNs)}"`;

/** Returns the entry of a file or folder, or null for anything else, such as a socket. */
export function diskEntryOf(name: string, stat: BigIntStats): DatedEntry | null {
  const modified = Math.min(Math.max(Number(stat.mtimeMs), 0), latestInstant); // a disk can store times outside the range of dates
  if (stat.isDirectory()) return { name, folder: true, size: 0, modified, etag: diskEtag(stat) };
  return stat.isFile() ? { name, folder: false, size: Number(stat.size), modified, etag: diskEtag(stat) } : null;
}
