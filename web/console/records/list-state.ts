import { useNavigate, useSearch } from '@tanstack/react-router';

/** What a list shows, as its address says it: one can go back to it, and pass it on. */
export interface ListSearch {
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

/** A word of digits alone comes from the address as a number. */
const text = (value: unknown) => {
  const read = typeof value === 'number' ? String(value) : value;
  return typeof read === 'string' && read !== '' ? read : undefined;
};
const number = (value: unknown) => {
  const read = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(read) && read > 0 ? read : undefined;
};
const flag = (value: unknown) => (value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined);

/** Reads the address; what makes no sense is as if it were not there. */
export const listSearch = (raw: Record<string, unknown>): ListSearch => ({
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

/** What the list shows, and how to show something else; every change but of the page begins at the first page. */
export function useListState() {
  const shown = listSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const show = (change: ListSearch, how: { replace?: boolean } = {}) =>
    void navigate({ to: '.', search: listSearch({ ...shown, page: undefined, ...change }), replace: how.replace ?? false });
  return { shown, show };
}
