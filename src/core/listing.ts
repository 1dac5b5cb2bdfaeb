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

/** An entry and its name as it is compared. */
interface Candidate<T> {
  readonly entry: T;
  readonly key: string;
}

/** The page lies so deep in so large a folder that what comes before it does not fit into memory. */
export class PageTooDeep extends Error {}

const mostHeld = 128 << 20; // bytes of candidates
const mostAfterCut = 0.75; // of them: sorting anew for each few would take for ever
/** Bytes that a candidate takes: of its name, which may be written anew as a key, and of its objects. */
const weightOf = ({ entry, key }: Candidate<Sorted>) => 200 + 2 * entry.name.length + (key === entry.name ? 0 : 2 * key.length);

const byText = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const byName = (a: Candidate<Sorted>, b: Candidate<Sorted>) => byText(a.key, b.key) || byText(a.entry.name, b.entry.name);

/** How two entries stand: folders first, ties by name. */
function orderOf({ sort, order }: ListingQuery): (a: Candidate<Sorted>, b: Candidate<Sorted>) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => {
    const folders = Number(b.entry.folder) - Number(a.entry.folder);
    if (folders !== 0) return folders;
    if (sort === 'name') return sign * byName(a, b);
    const [x, y] = sort === 'size' ? [a.entry.size, b.entry.size] : [a.entry.modified, b.entry.modified];
    return sign * ((x ?? 0) - (y ?? 0)) || byName(a, b);
  };
}

/**
 * Sorts a folder and cuts out the page. Of a large folder only what may come before the end of the page is held.
 * @throws PageTooDeep
 */
export function pageOf<T extends Sorted>(
  entries: Iterable<T>,
  query: ListingQuery,
  most = mostHeld,
): { readonly entries: readonly T[]; readonly total: number } {
  const { startIndex, pageSize } = query;
  const end = startIndex + pageSize;
  const word = query.word === null ? null : fold(query.word);
  const compare = orderOf(query);
  let found: Candidate<T>[] = [];
  let last: Candidate<T> | undefined; // of the page, among those found so far
  let [total, held] = [0, 0];
  function cut(): void {
    found.sort(compare);
    found = found.slice(0, end);
    last = found[end - 1];
    held = found.reduce((sum, candidate) => sum + weightOf(candidate), 0);
    if (held > most * mostAfterCut) throw new PageTooDeep('the page lies too deep');
  }
  for (const entry of entries) {
    const key = fold(entry.name);
    if (word !== null && !key.includes(word)) continue;
    total += 1;
    const candidate = { entry, key };
    if (last && compare(candidate, last) > 0) continue;
    found.push(candidate);
    held += weightOf(candidate);
    if (held > most) cut();
  }
  found.sort(compare);
  return { entries: found.slice(startIndex, end).map(({ entry }) => entry), total };
}
