import { useEffect, useRef, useState } from 'preact/hooks';
import { maxListingSize } from '#core/listing.ts';
import type { Listing } from '#core/records/visit.ts';
import { asFailure, type Failure, listFolder } from '#visitor/link-api.ts';
import { useReconnect } from '#visitor/use-reconnect.ts';

export type FolderEntry = Listing['entries'][number];

const pageSize = 500;
const typingPause = 150; // ms from the last keystroke to the request
const uploadPause = 250; // ms: many uploads may be completed at once

/** The sort order of a folder, and the search word. */
export interface ListQuery {
  readonly sortField: 'name' | 'size' | 'modifiedDateTime';
  readonly sortOrder: 'asc' | 'desc';
  readonly searchWord: string;
}

/** A folder of any size, of which some pages are loaded. */
export interface Folder {
  /** The number of entries that match the query; null: not loaded yet. */
  readonly total: number | null;
  readonly failure: Failure | null;
  readonly loading: boolean;
  /** Returns an entry, or null if it is not loaded yet. */
  at(index: number): FolderEntry | null;
  /** Returns the loaded entries with their indexes, in order. */
  loadedEntries(): readonly (readonly [number, FolderEntry])[];
  /** Requests the missing pages of a range. A page that failed is requested again only after another page or the folder is loaded. */
  load(from: number, to: number): void;
  reload(): void;
}

interface LoadedPages {
  /** The folder and the query that the pages belong to. */
  readonly key: string;
  readonly total: number | null;
  readonly pages: ReadonlyMap<number, readonly FolderEntry[]>;
}
const noPages: LoadedPages = { key: '', total: null, pages: new Map() };

/** Returns a value after it has not changed for a while. @param pause receives the value before the change, returns the wait in ms */
function useDebounced<Value>(value: Value, pause: (before: Value) => number): Value {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), pause(debounced));
    return () => clearTimeout(timer);
  }, [JSON.stringify(value)]);
  return debounced;
}

/** Requests all entries of a folder that match the query. */
export async function fetchAllEntries(path: readonly string[], { sortField, sortOrder, searchWord }: ListQuery): Promise<FolderEntry[]> {
  const all: FolderEntry[] = [];
  for (let total = 1; all.length < total; ) {
    const query = { startIndex: String(all.length), pageSize: String(maxListingSize), sortField, sortOrder };
    const { entries, totalCount } = await listFolder(path, searchWord ? { ...query, searchWord } : query);
    if (entries.length === 0) break;
    all.push(...entries);
    total = totalCount;
  }
  return all;
}

/** Loads a folder page by page. @param version an increase loads the folder again */
export function useFolder(path: readonly string[], listQuery: ListQuery, version: number): Folder {
  const { sortField, sortOrder, searchWord } = useDebounced(listQuery, (before) =>
    before.searchWord === listQuery.searchWord ? 0 : typingPause,
  );
  const debouncedVersion = useDebounced(version, () => uploadPause);
  const [loadedPages, setLoadedPages] = useState<LoadedPages>(noPages);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [reloads, setReloads] = useState(0);
  const [loading, setLoading] = useState(true);
  const requestedPages = useRef(new Set<number>());
  const failedPages = useRef(new Set<number>());
  /** Increases when the folder is loaded again. Responses to older requests are then ignored. */
  const generation = useRef(0);
  const pathKey = JSON.stringify(path);
  const key = JSON.stringify([path, sortField, sortOrder, searchWord]);

  function requestPage(page: number, requestGeneration: number): void {
    requestedPages.current.add(page);
    setLoading(true);
    const query = { startIndex: String(page * pageSize), pageSize: String(pageSize), sortField, sortOrder };
    listFolder(path, searchWord ? { ...query, searchWord } : query)
      .then(
        ({ entries, totalCount }) => {
          if (requestGeneration !== generation.current) return;
          setFailure(null);
          // Only now may `load` request the failed pages again: without the wait, it would request them after every render.
          for (const failedPage of failedPages.current) requestedPages.current.delete(failedPage);
          failedPages.current.clear();
          setLoadedPages((before) => ({
            key,
            total: totalCount,
            pages: new Map(before.key === key ? before.pages : []).set(page, entries),
          }));
        },
        (cause) => {
          if (requestGeneration !== generation.current) return;
          failedPages.current.add(page);
          setFailure(asFailure(cause));
        },
      )
      .finally(() => requestGeneration === generation.current && setLoading(false));
  }

  useEffect(() => {
    setLoadedPages(noPages);
    setFailure(null);
  }, [pathKey]);
  // Requests only the first page. `Rows` and `Grid` call `load` for the pages of the entries on the screen.
  useEffect(() => {
    generation.current += 1;
    requestedPages.current = new Set();
    failedPages.current = new Set();
    requestPage(0, generation.current);
  }, [key, debouncedVersion, reloads]);
  useReconnect(failure, () => setReloads((before) => before + 1));

  return {
    total: loadedPages.total,
    failure,
    loading,
    loadedEntries: () =>
      [...loadedPages.pages]
        .sort(([a], [b]) => a - b)
        .flatMap(([page, entries]) => entries.map((entry, index) => [page * pageSize + index, entry] as const)),
    at: (index) => loadedPages.pages.get(Math.floor(index / pageSize))?.[index % pageSize] ?? null,
    load(from, to) {
      for (let page = Math.floor(from / pageSize); page <= Math.floor(Math.max(from, to - 1) / pageSize); page += 1)
        if (!requestedPages.current.has(page)) requestPage(page, generation.current);
    },
    reload: () => setReloads(reloads + 1),
  };
}
