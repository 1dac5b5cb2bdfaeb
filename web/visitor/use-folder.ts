import { useEffect, useState } from 'preact/hooks';
import type { Listing } from '#core/records/visit.ts';
import { Failure, list } from './link-api.ts';

const pageSize = 500;

/** How a folder is sorted and what is looked for in it. */
export interface Wanted {
  readonly sortField: 'name' | 'size' | 'modifiedDateTime';
  readonly sortOrder: 'asc' | 'desc';
  readonly searchWord: string;
}

/** A folder as far as it has been asked for. */
export interface Folder {
  readonly listing: Listing | null;
  readonly failure: Failure | null;
  readonly loading: boolean;
  more(): void;
  again(): void;
}

/** Asks for a folder, page by page; `version` raised asks again. */
export function useFolder(path: readonly string[], wanted: Wanted, version: number): Folder {
  const [listing, setListing] = useState<Listing | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [loading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify([path, wanted]);
  const { sortField, sortOrder, searchWord } = wanted;
  const ask = (startIndex: number) =>
    list(path, { startIndex: String(startIndex), pageSize: String(pageSize), sortField, sortOrder, ...(searchWord ? { searchWord } : {}) });
  const failed = (cause: unknown) => setFailure(cause instanceof Failure ? cause : new Failure(0, '', 'Something went wrong.', null));

  useEffect(() => setListing(null), [JSON.stringify(path)]);
  useEffect(() => {
    let current = true;
    setLoading(true);
    setFailure(null);
    ask(0)
      .then(
        (found) => current && setListing(found),
        (cause) => current && failed(cause),
      )
      .finally(() => current && setLoading(false));
    return () => {
      current = false;
    };
  }, [key, version, turn]);

  return {
    listing,
    failure,
    loading,
    again: () => setTurn(turn + 1),
    more() {
      if (!listing || loading) return;
      setLoading(true);
      ask(listing.entries.length)
        .then((next) => setListing({ ...next, entries: [...listing.entries, ...next.entries] }), failed)
        .finally(() => setLoading(false));
    },
  };
}
