import type { BigIntStats } from 'node:fs';
import { latest } from '#core/instant.ts';
import type { Entry } from '#core/listing.ts';

const digits = (value: bigint) => value.toString(36);

/** Strong validator from inode, size and times in nanoseconds (visit.md, Routes). */
export const etagOf = (stat: BigIntStats) => `"${digits(stat.ino)}-${digits(stat.size)}-${digits(stat.mtimeNs)}-${digits(stat.ctimeNs)}"`;

/** null for what is neither file nor folder. */
export function entryOf(name: string, stat: BigIntStats): Entry | null {
  const modified = Math.min(Math.max(Number(stat.mtimeMs), 0), latest); // a disk takes times that no date can say
  if (stat.isDirectory()) return { name, folder: true, size: 0, modified, etag: etagOf(stat) };
  return stat.isFile() ? { name, folder: false, size: Number(stat.size), modified, etag: etagOf(stat) } : null;
}
