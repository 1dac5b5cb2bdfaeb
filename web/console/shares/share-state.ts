import type { Share, ShareState } from '#core/records/share.ts';

type ShareTimes = Pick<Share, 'active' | 'validityStartDate' | 'validityEndDate'>;

/** Returns the state of a share's link, by which share/search can filter. @param now ms since the epoch */
export function stateOf({ active, validityStartDate, validityEndDate }: ShareTimes, now: number): ShareState {
  if (!active) return 'inactive';
  if (validityStartDate && Date.parse(validityStartDate) > now) return 'scheduled';
  return validityEndDate && Date.parse(validityEndDate) <= now ? 'ended' : 'active';
}

export const stateLabels = {
  active: { label: 'Active', tone: 'good' },
  scheduled: { label: 'Scheduled', tone: 'waiting' },
  ended: { label: 'Expired', tone: 'inactive' },
  inactive: { label: 'Inactive', tone: 'inactive' },
} as const;
