import { useEffect, useRef, useState } from 'preact/hooks';
import { maxListingSize } from '#core/listing.ts';
import type { Listing } from '#core/records/visit.ts';
import { asFailure, type Failure, list } from '#visitor/link-api.ts';
import { useReconnect } from '#visitor/use-reconnect.ts';

export type Entry = Listing['entries'][number];

const pageSize = 500;
const typingPause = 150; // ms between the last letter and the question
const arrivalPause = 250; // ms: files may arrive by the dozen

/** How a folder is sorted and what is looked for in it. */
export interface Wanted {
  readonly sortField: 'name' | 'size' | 'modifiedDateTime';
  readonly sortOrder: 'asc' | 'desc';
  readonly searchWord: string;
}

/** A folder of any size, as far as it has been asked for. */
export interface Folder {
  /** null: not known yet. */
  readonly total: number | null;
  readonly failure: Failure | null;
  readonly loading: boolean;
  /** null: still on its way. */
  at(index: number): Entry | null;
  /** Entries known by now, with their place. */
  known(): readonly (readonly [number, Entry])[];
  /** Asks for what is to be seen and is not there yet. */
  need(from: number, to: number): void;
  again(): void;
}

interface Found {
  /** Which folder in which order: entries of another one are none of these. */
  readonly key: string;
  readonly total: number | null;
  readonly pages: ReadonlyMap<number, readonly Entry[]>;
}
const nothing: Found = { key: '', total: null, pages: new Map() };

/** What was said last, once nothing else has been said for a while. @param pause ms; 0: at once */
function useSettled<Value>(value: Value, pause: (before: Value) => number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause(settled));
    return () => clearTimeout(timer);
  }, [JSON.stringify(value)]);
  return settled;
}

/** All of a folder's entries, as they are wanted. */
export async function everyEntry(path: readonly string[], { sortField, sortOrder, searchWord }: Wanted): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let total = 1; all.length < total; ) {
    const query = { startIndex: String(all.length), pageSize: String(maxListingSize), sortField, sortOrder };
    const { entries, totalCount } = await list(path, searchWord ? { ...query, searchWord } : query);
    if (entries.length === 0) break;
    all.push(...entries);
    total = totalCount;
  }
  return all;
}

/** Asks for a folder, page by page; `version` raised asks again. */
export function useFolder(path: readonly string[], wanted: Wanted, version: number): Folder {
  const { sortField, sortOrder, searchWord } = useSettled(wanted, (before) => (before.searchWord === wanted.searchWord ? 0 : typingPause));
  const changed = useSettled(version, () => arrivalPause);
  const [found, setFound] = useState<Found>(nothing);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [turn, setTurn] = useState(0);
  const [loading, setLoading] = useState(true);
  const asked = useRef(new Set<number>());
  const run = useRef(0);
  const place = JSON.stringify(path);
  const key = JSON.stringify([path, sortField, sortOrder, searchWord]);

  function ask(page: number, mine: number): void {
    asked.current.add(page);
    setLoading(true);
    const query = { startIndex: String(page * pageSize), pageSize: String(pageSize), sortField, sortOrder };
    list(path, searchWord ? { ...query, searchWord } : query)
      .then(
        ({ entries, totalCount }) => {
          if (mine !== run.current) return;
          setFailure(null);
          setFound((before) => ({ key, total: totalCount, pages: new Map(before.key === key ? before.pages : []).set(page, entries) }));
        },
        (cause) => {
          if (mine === run.current) setFailure(asFailure(cause));
        },
      )
      .finally(() => mine === run.current && setLoading(false));
  }

  useEffect(() => {
    setFound(nothing);
    setFailure(null);
  }, [place]);
  // What lies beyond the first page is asked for again by whoever shows it.
  useEffect(() => {
    run.current += 1;
    asked.current = new Set();
    ask(0, run.current);
  }, [key, changed, turn]);
  useReconnect(failure, () => setTurn((before) => before + 1));

  return {
    total: found.total,
    failure,
    loading,
    known: () =>
      [...found.pages]
        .sort(([a], [b]) => a - b)
        .flatMap(([page, entries]) => entries.map((entry, index) => [page * pageSize + index, entry] as const)),
    at: (index) => found.pages.get(Math.floor(index / pageSize))?.[index % pageSize] ?? null,
    need(from, to) {
      for (let page = Math.floor(from / pageSize); page <= Math.floor(Math.max(from, to - 1) / pageSize); page += 1)
        if (!asked.current.has(page)) ask(page, run.current);
    },
    again: () => setTurn(turn + 1),
  };
}
