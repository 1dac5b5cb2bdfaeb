import { createHash } from 'node:crypto';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { centralLength, descriptorLength, endLength, headerLength, type ZipItem } from './zip-format.ts';

/** More entries are packed as they are found: their number is not known before the first byte. */
export const mostPlanned = 50_000;
/** Bytes: a file that small is read at once, so that its header knows its sum; a larger one's sum follows it. */
export const readWholeUpTo = 1 << 20;

/** Something found that goes into an archive. */
export interface Found {
  readonly entry: Entry;
  readonly path: ItemPath;
  /** Path within the archive; a folder's ends with `/`. */
  readonly name: string;
}

/** An item whose place in the archive is known before it is read. */
export interface PlacedItem extends ZipItem {
  readonly found: Found;
  /** Where its header begins. */
  readonly offset: number;
  readonly headerLength: number;
}

/** An archive to the byte, but for the sums of its files. */
export interface ZipPlan {
  readonly items: readonly PlacedItem[];
  /** Where the directory at the end begins, and how long it is without its end record. */
  readonly directory: { readonly offset: number; readonly length: number };
  readonly size: number;
  /** Strong validator: equal archives are equal byte for byte. */
  readonly etag: string;
}

const isLarge = ({ entry }: Found) => entry.size > readWholeUpTo;

/** Where everything lies; in the order of the names, in whatever order they were found. */
export function planZip(found: readonly Found[]): ZipPlan {
  const items: PlacedItem[] = [];
  const hash = createHash('sha256');
  let [offset, directoryLength] = [0, 0];
  for (const one of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { entry, name } = one;
    const followed = isLarge(one);
    const nameLength = Buffer.byteLength(name);
    const length = headerLength(nameLength, followed);
    items.push({ name, modified: entry.modified, found: one, offset, headerLength: length });
    directoryLength += centralLength(nameLength, entry.size, offset);
    offset += length + entry.size + (followed ? descriptorLength : 0);
    // A folder's own times change with every file in it; of it the archive holds its name and time alone.
    hash.update(`${name}\0${entry.size}\0${entry.modified}\0${entry.folder ? '' : entry.etag}\0`);
  }
  const size = offset + directoryLength + endLength(items.length, directoryLength, offset);
  return { items, directory: { offset, length: directoryLength }, size, etag: `"zip-${hash.digest('base64url')}"` };
}
