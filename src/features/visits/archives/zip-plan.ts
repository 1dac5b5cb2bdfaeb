import { createHash } from 'node:crypto';
import type { Entry } from '#core/listing.ts';
import { centralLength, descriptorLength, endLength, headerLength, type ZipItem } from './zip-format.ts';

/** Maximum sum of `memoryCostOf` over all entries. A larger archive has no plan: its size is not known before the first byte is sent. */
export const maxPlanCost = 50_000;
const shortTexts = 150; // characters of two bytes

/**
 * Returns how much memory an entry needs, as a number of entries with a short name and ETag. In deep folders a name may have 50,000
 * characters.
 */
export const memoryCostOf = ({ entry, name }: ArchiveEntry): number => 1 + Math.floor((name.length + entry.etag.length) / shortTexts);
/** Bytes. In a planned archive, the header of a file up to this size holds its checksum. After a larger file, a descriptor holds it. */
export const maxSingleReadSize = 1 << 20;
const batchSize = 2000; // items placed before the event loop runs other work

export interface ArchiveEntry {
  readonly entry: Entry;
  /** Path within the archive, which is also the path from the archived folder. A folder's name ends with `/`. */
  readonly name: string;
}

/** An item whose position in the archive is known before the item is read. */
export interface PlacedItem extends ZipItem {
  /** Bytes; 0 for a folder. */
  readonly size: number;
  readonly etag: string;
  /** Byte position of its header. */
  readonly offset: number;
}

/** The exact layout of an archive. Only the checksums of its files are missing. */
export interface ZipPlan {
  readonly items: readonly PlacedItem[];
  /** How much memory the items need: see `memoryCostOf`. */
  readonly cost: number;
  /** Position and length in bytes of the central directory, without its end record. */
  readonly directory: { readonly offset: number; readonly length: number };
  readonly size: number;
  /** Strong ETag: archives with the same ETag are equal byte for byte. */
  readonly etag: string;
}

/** Returns whether a descriptor follows the content of an item. */
export const hasDescriptor = ({ size }: Pick<PlacedItem, 'size'>) => size > maxSingleReadSize;

const compareNames = (a: ArchiveEntry, b: ArchiveEntry) => (a.name < b.name ? -1 : 1);

/** Sorts entries by name. Sorts and merges parts of them, with pauses: long names with the same beginning take long to compare. */
async function sortByName(entries: readonly ArchiveEntry[]): Promise<readonly ArchiveEntry[]> {
  const parts: (readonly ArchiveEntry[])[] = [];
  for (let start = 0; start < entries.length; start += batchSize) {
    parts.push(entries.slice(start, start + batchSize).sort(compareNames));
    await new Promise(setImmediate);
  }
  while (parts.length > 1) {
    // The sort of the engine finds the two sorted parts, and compares each entry about twice.
    const [first = [], second = []] = parts.splice(0, 2);
    parts.push(first.concat(second).sort(compareNames));
    await new Promise(setImmediate);
  }
  return parts[0] ?? [];
}

/** Computes the layout of an archive. The items are sorted by name, so that the order of `entries` does not matter. */
export async function planZip(entries: readonly ArchiveEntry[]): Promise<ZipPlan> {
  const items: PlacedItem[] = [];
  const hash = createHash('sha256');
  let [offset, directoryLength, cost] = [0, 0, 0];
  for (const { entry, name } of await sortByName(entries)) {
    const { size, modified, etag, folder } = entry;
    const nameLength = Buffer.byteLength(name);
    items.push({ name, modified, size, etag, offset });
    cost += memoryCostOf({ entry, name });
    directoryLength += centralLength(nameLength, size, offset);
    offset += headerLength(nameLength, hasDescriptor(entry)) + size + (hasDescriptor(entry) ? descriptorLength : 0);
    // A folder's own ETag changes with every file in it, but the archive holds only its name and time.
    hash.update(`${name}\0${size}\0${modified}\0${folder ? '' : etag}\0`);
    if (items.length % batchSize === 0) await new Promise(setImmediate);
  }
  const size = offset + directoryLength + endLength(items.length, directoryLength, offset);
  return { items, cost, directory: { offset, length: directoryLength }, size, etag: `"zip-${hash.digest('base64url')}"` };
}
