import { queryOptions } from '@tanstack/react-query';
import { get, type Page, post } from '#console/api/call.ts';
import { hasAccessUsers, type LoginProfile, profileTypes } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';

const maxLocationChoices = 1000;

/** Returns login profiles, sorted by title. @param withUsers only those with which access users sign in */
export async function findProfiles(
  query: { readonly searchWord?: string; readonly pageSize: number },
  withUsers: boolean,
  signal: AbortSignal,
): Promise<readonly LoginProfile[]> {
  const search = (typeId?: number) => get('loginprofile/search', { ...query, typeId, details: false, sortField: 'title' }, signal);
  const pages = await Promise.all(withUsers ? Object.values(profileTypes).filter(hasAccessUsers).map(search) : [search()]);
  return pages.flatMap(({ list }) => list).sort((a, b) => a.title.localeCompare(b.title));
}

/** The first login profile with which access users sign in, preselected for new users. null: there is none. */
export const firstProfileWithUsers = queryOptions({
  queryKey: ['profile', 'with users'],
  queryFn: ({ signal }) => findProfiles({ pageSize: 1 }, true, signal).then(([first]) => first ?? null),
});

/** One login profile, loaded by itself: a list of choices does not always contain it. */
export const profileQuery = (id: number) =>
  queryOptions({ queryKey: ['profile', 'one', id], queryFn: () => post('loginprofile/get', { id }), enabled: id > 0 });

/** The first 1000 locations, sorted by name. */
export const locationChoices = queryOptions({
  queryKey: ['location', 'choices'],
  queryFn: ({ signal }) => get('location/search', { pageSize: maxLocationChoices, sortField: 'name' }, signal).then(({ list }) => list),
});

export const shareQuery = (id: number) => queryOptions({ queryKey: ['share', 'one', id], queryFn: () => post('share/get', { id }) });

/** Returns a page of shares, each with the time of its last visit. */
export async function searchSharesWithLastVisit(query: Parameters<typeof get>[1], signal: AbortSignal): Promise<Page<ShareWithLastVisit>> {
  const page = await get('share/search', query, signal);
  if (page.list.length === 0) return { list: [], totalCount: page.totalCount };
  const { list } = await post('share/lastVisits', { ids: page.list.map(({ id }) => id) });
  const visits = new Map(list.map(({ id, lastVisitDateTime }) => [id, lastVisitDateTime]));
  return { totalCount: page.totalCount, list: page.list.map((share) => ({ ...share, lastVisit: visits.get(share.id) ?? null })) };
}
export type ShareWithLastVisit = Share & { readonly lastVisit: string | null };

export const policyQuery = queryOptions({
  queryKey: ['policy'],
  queryFn: ({ signal }) => get('tenant/getPolicy', {}, signal),
});

export const defaultProfile = queryOptions({
  queryKey: ['profile', 'default'],
  queryFn: () => post('loginprofile/get', {}),
});
