import { useNavigate, useSearch } from '@tanstack/react-router';

/** The state of a list, kept in the query of its URL, so that it can be bookmarked and shared. */
export interface ListState {
  readonly q?: string | undefined;
  readonly page?: number | undefined;
  readonly sort?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly state?: string | undefined;
  readonly profile?: number | undefined;
  readonly location?: string | undefined;
  readonly active?: boolean | undefined;
  readonly share?: number | undefined;
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Reads a text parameter. The router parses a text of digits as a number. */
const text = (value: unknown) => {
  const string = typeof value === 'number' ? String(value) : value;
  return typeof string === 'string' && string !== '' ? string : undefined;
};
const number = (value: unknown) => {
  const parsed = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(parsed) && parsed > 0 ? parsed : undefined;
};
const flag = (value: unknown) => (value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined);

/** Reads the list state from a URL. Invalid parameters are ignored. */
export const readListState = (raw: Record<string, unknown>): ListState => ({
  q: text(raw['q']),
  page: number(raw['page']),
  sort: text(raw['sort']),
  order: raw['order'] === 'desc' ? 'desc' : raw['order'] === 'asc' ? 'asc' : undefined,
  state: text(raw['state']),
  profile: number(raw['profile']),
  location: text(raw['location']),
  active: flag(raw['active']),
  share: number(raw['share']),
  who: text(raw['who']),
  action: text(raw['action']),
  outcome: text(raw['outcome']),
  from: text(raw['from']),
  to: text(raw['to']),
});

/** Returns the list state and a function that changes it. Every change, except a change of the page, returns to the first page. */
export function useListState() {
  const listState = readListState(useSearch({ strict: false }));
  const navigate = useNavigate();
  const setListState = (change: ListState, options: { replace?: boolean } = {}) =>
    void navigate({ to: '.', search: readListState({ ...listState, page: undefined, ...change }), replace: options.replace ?? false });
  return { listState, setListState };
}
