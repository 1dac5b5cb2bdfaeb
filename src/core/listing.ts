import { fold } from './fold.ts';

/** A file or folder as it lies in a storage. Links, devices and the like are none. */
export interface Entry {
  readonly name: string;
  readonly folder: boolean;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Strong validator of the bytes (RFC 9110, 8.8.3), quotes included. */
  readonly etag: string;
}

/** Which page of a folder. */
export interface ListingQuery {
  readonly sort: 'name' | 'size' | 'modifiedDateTime';
  readonly order: 'asc' | 'desc';
  /** Case-insensitive substring of the name, or null. */
  readonly word: string | null;
  readonly startIndex: number;
  readonly pageSize: number;
}

/** Entries of a page: at most, and where nobody says how many. */
export const [largestListing, defaultListing] = [10_000, 1000];

/** A page, and how many entries there are in all. */
export interface ListingPage {
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** What a page is chosen by; who sorts by name needs to know no more than the name. */
type Sorted = Pick<Entry, 'name' | 'folder'> & Partial<Pick<Entry, 'size' | 'modified'>>;

const byText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Sorts a folder, folders first, ties by name, and cuts out the page. */
export function pageOf<T extends Sorted>(
  entries: readonly T[],
  { sort, order, word, startIndex, pageSize }: ListingQuery,
): { readonly entries: readonly T[]; readonly total: number } {
  const sign = order === 'asc' ? 1 : -1;
  const keyed = entries.map((entry) => ({ entry, key: fold(entry.name) }));
  const wanted = word === null ? null : fold(word);
  const found = wanted === null ? keyed : keyed.filter(({ key }) => key.includes(wanted));
  const byName = (a: (typeof keyed)[number], b: (typeof keyed)[number]) => byText(a.key, b.key) || byText(a.entry.name, b.entry.name);
  found.sort((a, b) => {
    const folders = Number(b.entry.folder) - Number(a.entry.folder);
    if (folders !== 0) return folders;
    if (sort === 'name') return sign * byName(a, b);
    const [x, y] = sort === 'size' ? [a.entry.size, b.entry.size] : [a.entry.modified, b.entry.modified];
    return sign * ((x ?? 0) - (y ?? 0)) || byName(a, b);
  });
  return { entries: found.slice(startIndex, startIndex + pageSize).map(({ entry }) => entry), total: found.length };
}
