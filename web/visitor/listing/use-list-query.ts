import { useState } from 'preact/hooks';
import type { ListQuery } from './use-folder.ts';

/** The sort order of the page, and the search with the folder that it belongs to. */
type QueryState = Omit<ListQuery, 'searchWord'> & { readonly search: { readonly key: string; readonly word: string } };

/** Returns how a folder is sorted and searched. A search applies only to the folder in which it was typed. @param key of the folder */
export function useListQuery(key: string): { listQuery: ListQuery; changeQuery: (changes: Partial<ListQuery>) => void } {
  const [{ search, ...order }, setState] = useState<QueryState>({ sortField: 'name', sortOrder: 'asc', search: { key: '', word: '' } });
  return {
    listQuery: { ...order, searchWord: search.key === key ? search.word : '' },
    changeQuery: ({ searchWord, ...newOrder }) =>
      setState({ ...order, search: searchWord === undefined ? search : { key, word: searchWord }, ...newOrder }),
  };
}
