import { fold } from './fold.ts';
import type { Entry, ListingQuery } from './listing.ts';

/** The fields that a page is sorted by, and the ETag, which counts as memory. Callers that sort by name need no size and no time. */
type SortableEntry = Pick<Entry, 'name' | 'folder'> & Partial<Pick<Entry, 'size' | 'modified' | 'etag'>>;

/** An entry, and its folded name for comparisons. */
interface Candidate<T> {
  readonly entry: T;
  readonly key: string;
}

type Compare<T> = (a: Candidate<T>, b: Candidate<T>) => number;

/** The entries from the beginning of a large folder to the end of the page do not fit into memory. */
export class PageTooDeep extends Error {}

const defaultMaxBytes = 128 << 20; // memory for candidates
const runLength = 1000; // entries that are sorted at once
const comparisonsPerPause = 5000; // take about a millisecond
/** Entries after the page are dropped when the candidates exceed twice the entries up to the end of the page by this number. */
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
function comparisonOf({ sort, order }: ListingQuery): Compare<SortableEntry> {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => {
    const folders = Number(b.entry.folder) - Number(a.entry.folder);
    if (folders !== 0) return folders;
    if (sort === 'name') return sign * compareNames(a, b);
    const [x, y] = sort === 'size' ? [a.entry.size, b.entry.size] : [a.entry.modified, b.entry.modified];
    return sign * ((x ?? 0) - (y ?? 0)) || compareNames(a, b);
  };
}

/** Work in steps. After each step, the caller may let other work run. Returns the result of the work. */
export type Steps<T = void> = Generator<void, T>;

/** Merges two sorted lists. */
function* merge<T>(first: readonly Candidate<T>[], second: readonly Candidate<T>[], compare: Compare<T>): Steps<Candidate<T>[]> {
  const [last, next] = [first.at(-1), second[0]];
  if (!last || !next || compare(last, next) <= 0) return first.concat(second); // services usually list names in order
  const merged: Candidate<T>[] = [];
  let [a, b] = [0, 0];
  for (;;) {
    const [x, y] = [first[a], second[b]];
    if (!x || !y) return merged.concat(first.slice(a), second.slice(b));
    const isFirst = compare(x, y) <= 0;
    merged.push(isFirst ? x : y);
    if (isFirst) a += 1;
    else b += 1;
    if (merged.length % comparisonsPerPause === 0) yield;
  }
}

/** Does all steps of some work at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export interface SelectionOptions {
  /** Bytes for the entries that are kept. */
  readonly maxBytes?: number;
  /** Whether to keep the entries after the page too, while they fit into memory. */
  readonly keepsAll?: boolean;
}

export interface SelectedPage<T> {
  readonly entries: readonly T[];
  /** Number of matching entries on all pages. */
  readonly total: number;
  /** All matching entries, sorted; null: some were dropped. */
  readonly all: readonly T[] | null;
}

/** Selects one page of a folder, sorted. If the folder is large, keeps only the entries that can come before the end of the page. */
export class PageSelection<T extends SortableEntry> {
  readonly #query: ListingQuery;
  readonly #maxBytes: number;
  readonly #keepsAll: boolean;
  readonly #word: string | null;
  readonly #compare: Compare<T>;
  /** Sorted lists of candidates, each more than twice as long as the next one. */
  #runs: Candidate<T>[][] = [];
  #lastOfPage: Candidate<T> | undefined; // the last entry of the page among those that were added before the latest drop
  #isComplete = true;
  #count = 0; // of candidates
  #total = 0;
  #bytes = 0;

  constructor(query: ListingQuery, { maxBytes = defaultMaxBytes, keepsAll = false }: SelectionOptions = {}) {
    this.#query = query;
    this.#maxBytes = maxBytes;
    this.#keepsAll = keepsAll;
    this.#word = query.searchWord === null ? null : fold(query.searchWord);
    this.#compare = comparisonOf(query);
  }

  /** Takes further entries of the folder. @throws PageTooDeep if the entries up to the end of the page do not fit into memory */
  *add(entries: Iterable<T>): Steps {
    let run: Candidate<T>[] = [];
    for (const entry of entries) {
      const key = fold(entry.name);
      if (this.#word !== null && !key.includes(this.#word)) continue;
      this.#total += 1;
      const candidate = { entry, key };
      if (this.#lastOfPage && this.#compare(candidate, this.#lastOfPage) > 0) continue;
      run.push(candidate);
      if (run.length < runLength) continue;
      yield* this.#addRun(run);
      run = [];
      yield;
    }
    yield* this.#addRun(run);
  }

  /** Memory of the entries that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Drops the entries after the page, to take less memory. */
  *dropAfterPage(): Steps {
    const candidates = yield* this.#merge(Number.POSITIVE_INFINITY);
    const kept = candidates.slice(0, this.#end);
    this.#isComplete = false;
    this.#runs = [kept];
    this.#count = kept.length;
    this.#lastOfPage = kept[this.#end - 1];
    this.#bytes = kept.reduce((sum, candidate) => sum + memoryOf(candidate), 0);
  }

  /** Returns the page, after all entries were added. */
  *page(): Steps<SelectedPage<T>> {
    const { startIndex } = this.#query;
    const candidates = yield* this.#merge(Number.POSITIVE_INFINITY);
    const entries = candidates.slice(startIndex, this.#end).map(({ entry }) => entry);
    const all = this.#keepsAll && this.#isComplete ? candidates.map(({ entry }) => entry) : null;
    return { entries, total: this.#total, all };
  }

  /** Number of entries up to the end of the page. */
  get #end(): number {
    return this.#query.startIndex + this.#query.pageSize;
  }

  *#addRun(run: Candidate<T>[]): Steps {
    if (run.length === 0) return;
    this.#runs.push(run.sort(this.#compare));
    this.#count += run.length;
    for (const candidate of run) this.#bytes += memoryOf(candidate);
    yield* this.#merge(2);
    if (this.#bytes > this.#maxBytes) {
      yield* this.dropAfterPage();
      if (this.#bytes > this.#maxBytes * maxFilledAfterDrop)
        throw new PageTooDeep('the page is too far from the beginning of a large folder');
    } else if (!(this.#keepsAll && this.#isComplete) && this.#count >= 2 * this.#end + extraCandidates) yield* this.dropAfterPage();
  }

  /** Merges the shortest lists while one is at most `factor` times as long as the next one. Returns the shortest list. */
  *#merge(factor: number): Steps<readonly Candidate<T>[]> {
    let shortest = this.#runs.pop() ?? [];
    for (let next = this.#runs.at(-1); next && next.length <= factor * shortest.length; next = this.#runs.at(-1)) {
      shortest = yield* merge(next, shortest, this.#compare);
      this.#runs.pop();
    }
    this.#runs.push(shortest);
    return shortest;
  }
}

/** Returns one page of a folder, as `PageSelection` selects it. @throws PageTooDeep */
export function selectListingPage<T extends SortableEntry>(entries: Iterable<T>, query: ListingQuery, maxBytes = defaultMaxBytes) {
  const selection = new PageSelection<T>(query, { maxBytes });
  finish(selection.add(entries));
  const { entries: page, total } = finish(selection.page());
  return { entries: page, total };
}
