import { fold } from './fold.ts';

/** A file or folder in a storage. Symbolic links, devices and other special files are not entries. */
export interface Entry {
  readonly name: string;
  readonly folder: boolean;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Milliseconds since the epoch; null: a folder of a storage that keeps no times of folders. */
  readonly modified: number | null;
  /**
   * Of a file: validator of the content (RFC 9110, 8.8.3), quotes included. Usually strong, but some servers send a weak one. For SFTP,
   * and for WebDAV servers that send none, it is made of the size and the time, so it does not change if both stay the same.
   */
  readonly etag: string;
  /** true: the storage may have to restore the file from an archive before it can be opened. */
  readonly mayNeedRestore?: boolean;
}

/** An entry whose time is known: every file, and the folders of a storage that keeps times of folders. */
export interface DatedEntry extends Entry {
  readonly modified: number;
}

/** Selects one page of a folder. */
export interface ListingQuery {
  readonly sort: 'name' | 'size' | 'modifiedDateTime';
  readonly order: 'asc' | 'desc';
  /** Case-insensitive substring of the name; null: all names. */
  readonly searchWord: string | null;
  readonly startIndex: number;
  readonly pageSize: number;
}

/** Largest page, and the page size if a request names none; in entries. */
export const [maxListingSize, defaultListingSize] = [10_000, 1000];

/** A page of a folder. */
export interface ListingPage {
  readonly entries: readonly Entry[];
  /** Number of matching entries on all pages. */
  readonly total: number;
  /** Memory of the entries, taken from a budget. The caller disposes of it when it no longer needs the entries. */
  readonly memory?: Disposable;
}

/** The fields that a page is sorted by. Callers that sort by name need no size and no time. */
type SortableEntry = Pick<Entry, 'name' | 'folder'> & Partial<Pick<Entry, 'size' | 'modified' | 'etag'>>;

/** An entry, and its folded name for comparisons. */
interface Candidate<T> {
  readonly entry: T;
  readonly key: string;
}

/** The entries from the beginning of a large folder to the end of the page do not fit into memory. */
export class PageTooDeep extends Error {}

const defaultMaxBytes = 128 << 20; // memory for candidates
/**
 * Entries after the page are dropped when there are twice as many candidates as entries up to the end of the page, and this many more.
 * Sorting 140,000 candidates at once would take 0.8 s.
 */
const extraCandidates = 10_000;
// After dropping entries, at least a quarter of the memory must be free. Otherwise the entries would be sorted again after every few
// additions.
const maxFilledAfterDrop = 0.75;
/** Returns the memory that an entry takes while it is listed, in bytes: its objects, its name and its ETag. */
export const memoryOfEntry = ({ name, etag = '' }: SortableEntry) => 200 + 2 * (name.length + etag.length);
/** Returns the memory that a candidate takes, in bytes: its entry, and the key if it differs from the name. */
const memoryOf = ({ entry, key }: Candidate<SortableEntry>) => memoryOfEntry(entry) + (key === entry.name ? 0 : 2 * key.length);

const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const compareNames = (a: Candidate<SortableEntry>, b: Candidate<SortableEntry>) =>
  compareTexts(a.key, b.key) || compareTexts(a.entry.name, b.entry.name);

/** Returns the comparison of a query: folders come first, and equal entries are sorted by name. */
function comparisonOf({ sort, order }: ListingQuery): (a: Candidate<SortableEntry>, b: Candidate<SortableEntry>) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => {
    const folders = Number(b.entry.folder) - Number(a.entry.folder);
    if (folders !== 0) return folders;
    if (sort === 'name') return sign * compareNames(a, b);
    const [x, y] = sort === 'size' ? [a.entry.size, b.entry.size] : [a.entry.modified, b.entry.modified];
    return sign * ((x ?? 0) - (y ?? 0)) || compareNames(a, b);
  };
}

/** Selects one page of a folder, sorted. If the folder is large, keeps only the entries that can come before the end of the page. */
export class PageSelection<T extends SortableEntry> {
  readonly #query: ListingQuery;
  readonly #maxBytes: number;
  readonly #word: string | null;
  readonly #compare: (a: Candidate<T>, b: Candidate<T>) => number;
  #candidates: Candidate<T>[] = [];
  #lastOfPage: Candidate<T> | undefined; // the last entry of the page among those that were added before the latest drop
  #total = 0;
  #bytes = 0;

  /** @param maxBytes memory for the entries that are kept */
  constructor(query: ListingQuery, maxBytes = defaultMaxBytes) {
    this.#query = query;
    this.#maxBytes = maxBytes;
    this.#word = query.searchWord === null ? null : fold(query.searchWord);
    this.#compare = comparisonOf(query);
  }

  /** Takes further entries of the folder. @throws PageTooDeep if the entries up to the end of the page do not fit into memory */
  add(entries: Iterable<T>): void {
    for (const entry of entries) {
      const key = fold(entry.name);
      if (this.#word !== null && !key.includes(this.#word)) continue;
      this.#total += 1;
      const candidate = { entry, key };
      if (this.#lastOfPage && this.#compare(candidate, this.#lastOfPage) > 0) continue;
      this.#candidates.push(candidate);
      this.#bytes += memoryOf(candidate);
      if (this.#bytes > this.#maxBytes) {
        this.#dropAfterPage();
        if (this.#bytes > this.#maxBytes * maxFilledAfterDrop)
          throw new PageTooDeep('the page is too far from the beginning of a large folder');
      } else if (this.#candidates.length >= 2 * this.#end + extraCandidates) this.#dropAfterPage();
    }
  }

  /** Memory of the entries that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the page, and the number of matching entries. */
  page(): { readonly entries: readonly T[]; readonly total: number } {
    const { startIndex, pageSize } = this.#query;
    const page = this.#candidates.sort(this.#compare).slice(startIndex, startIndex + pageSize);
    return { entries: page.map(({ entry }) => entry), total: this.#total };
  }

  /** Number of entries up to the end of the page. */
  get #end(): number {
    return this.#query.startIndex + this.#query.pageSize;
  }

  #dropAfterPage(): void {
    this.#candidates = this.#candidates.sort(this.#compare).slice(0, this.#end);
    this.#lastOfPage = this.#candidates[this.#end - 1];
    this.#bytes = this.#candidates.reduce((sum, candidate) => sum + memoryOf(candidate), 0);
  }
}

/** Returns one page of a folder, as `PageSelection` selects it. @throws PageTooDeep */
export function selectListingPage<T extends SortableEntry>(entries: Iterable<T>, query: ListingQuery, maxBytes = defaultMaxBytes) {
  const selection = new PageSelection<T>(query, maxBytes);
  selection.add(entries);
  return selection.page();
}
