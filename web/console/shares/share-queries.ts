import { queryOptions } from '@tanstack/react-query';
import { ask, type Page, post } from '#console/api/call.ts';
import type { Location } from '#core/records/location.ts';
import type { LoginProfile } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';

const most = 1000;

/** Every login profile by its title, to choose from. */
export const profileChoices = queryOptions({
  queryKey: ['profile', 'choices'],
  queryFn: ({ signal }) =>
    ask<Page<LoginProfile>>('loginprofile/search', { details: false, pageSize: most, sortField: 'title' }, signal).then(({ list }) => list),
});

/** One login profile: there may be more of them than a list to choose from holds. */
export const profileQuery = (id: number) =>
  queryOptions({ queryKey: ['profile', 'one', id], queryFn: () => post<LoginProfile>('loginprofile/get', { id }), enabled: id > 0 });

/** Every location by its name, to choose from. */
export const locationChoices = queryOptions({
  queryKey: ['location', 'choices'],
  queryFn: ({ signal }) => ask<Page<Location>>('location/search', { pageSize: most, sortField: 'name' }, signal).then(({ list }) => list),
});

export const shareQuery = (id: number) => queryOptions({ queryKey: ['share', 'one', id], queryFn: () => post<Share>('share/get', { id }) });

interface LastVisit {
  readonly id: number;
  readonly lastVisitDateTime: string;
}

/** A page of shares, and when each was last visited. */
export async function sharesWithVisits(query: Parameters<typeof ask>[1], signal: AbortSignal): Promise<Page<VisitedShare>> {
  const page = await ask<Page<Share>>('share/search', query, signal);
  if (page.list.length === 0) return { list: [], totalCount: page.totalCount };
  const { list } = await post<{ list: LastVisit[] }>('share/lastVisits', { ids: page.list.map(({ id }) => id) });
  const visits = new Map(list.map(({ id, lastVisitDateTime }) => [id, lastVisitDateTime]));
  return { totalCount: page.totalCount, list: page.list.map((share) => ({ ...share, lastVisit: visits.get(share.id) ?? null })) };
}
export type VisitedShare = Share & { readonly lastVisit: string | null };

/** The tenant's default login profile. */
export const defaultProfile = queryOptions({
  queryKey: ['profile', 'default'],
  queryFn: () => post<LoginProfile>('loginprofile/get', {}),
});
