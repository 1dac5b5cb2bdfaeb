import { createHash } from 'node:crypto';
import type { Entry } from '#core/listing.ts';
import { centralLength, descriptorLength, endLength, headerLength, type ZipItem } from './zip-format.ts';

/** More entries are packed as they are found: their number is not known before the first byte. */
export const maxPlannedEntries = 50_000;
const shortName = 300; // characters

/** What an entry takes of memory, in entries with a short name: names of deep folders may have 50,000 characters. */
export const memoryCostOf = ({ name }: { readonly name: string }): number => 1 + Math.floor(name.length / shortName);
/** Bytes: a file that small is read at once, so that its header knows its sum; a larger one's sum follows it. */
export const readWholeUpTo = 1 << 20;
const atOnce = 2000; // items placed before others get their turn

/** Something found that goes into an archive. */
export interface ArchiveEntry {
  readonly entry: Entry;
  /** Path within the archive, and from the folder that is packed; a folder's ends with `/`. */
  readonly name: string;
}

/** An item whose place in the archive is known before it is read. */
export interface PlacedItem extends ZipItem {
  /** Bytes; 0 for a folder. */
  readonly size: number;
  readonly etag: string;
  /** Where its header begins. */
  readonly offset: number;
}

/** An archive to the byte, but for the sums of its files. */
export interface ZipPlan {
  readonly items: readonly PlacedItem[];
  /** What they take of memory: see `costOf`. */
  readonly cost: number;
  /** Where the directory at the end begins, and how long it is without its end record. */
  readonly directory: { readonly offset: number; readonly length: number };
  readonly size: number;
  /** Strong validator: equal archives are equal byte for byte. */
  readonly etag: string;
}

/** Does a descriptor follow its bytes? */
export const hasDescriptor = ({ size }: Pick<PlacedItem, 'size'>) => size > readWholeUpTo;

/** Where everything lies; in the order of the names, in whatever order they were found. */
export async function planZip(found: readonly ArchiveEntry[]): Promise<ZipPlan> {
  const items: PlacedItem[] = [];
  const hash = createHash('sha256');
  let [offset, directoryLength, cost] = [0, 0, 0];
  for (const { entry, name } of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { size, modified, etag, folder } = entry;
    const nameLength = Buffer.byteLength(name);
    items.push({ name, modified, size, etag, offset });
    cost += memoryCostOf({ name });
    directoryLength += centralLength(nameLength, size, offset);
    offset += headerLength(nameLength, hasDescriptor(entry)) + size + (hasDescriptor(entry) ? descriptorLength : 0);
    // A folder's own validator changes with every file in it; of it the archive holds its name and time alone.
    hash.update(`${name}\0${size}\0${modified}\0${folder ? '' : etag}\0`);
    if (items.length % atOnce === 0) await new Promise(setImmediate);
  }
  const size = offset + directoryLength + endLength(items.length, directoryLength, offset);
  return { items, cost, directory: { offset, length: directoryLength }, size, etag: `"zip-${hash.digest('base64url')}"` };
}
