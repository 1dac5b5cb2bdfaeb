import { type ChangeOptions, post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { formatCount } from '#console/components/format.ts';
import type { Share } from '#core/records/share.ts';

const week = 7 * 86_400_000; // ms
const maxSharesChecked = 20;

/** Changes only `active`. It reads the share first, so that it does not overwrite what others have changed since the page was loaded. */
const setActive =
  (active: boolean) =>
  async ({ id }: Share, options: ChangeOptions) => {
    const share = await post('share/get', { id });
    await post('share/update', { ...share, active }, { ...options, ifMatch: share.etag });
  };

/** Returns a sentence about the visitors who used the links of the shares in the last seven days, or an empty string if none did. */
async function usageWarning(shares: readonly Share[]): Promise<string> {
  const fromDate = new Date(Date.now() - week).toISOString();
  const checkedShares = shares.slice(0, maxSharesChecked);
  const activities = await Promise.all(checkedShares.map(({ id }) => post('share/activity', { id, fromDate })));
  const users = activities.flatMap(({ byVisitor }) => byVisitor);
  const visitors = new Set(users.map(({ visitor }) => visitor).filter(Boolean));
  const visits = users.reduce((sum, user) => sum + user.visits, 0);
  const hasUnnamedVisitors = users.some(({ visitor }) => !visitor);
  const isPartial = shares.length > checkedShares.length;
  const checked = isPartial ? ` Only the first ${maxSharesChecked} links were checked.` : '';
  if (visits === 0) return isPartial ? `No visits were found in the last 7 days.${checked}` : '';
  const atLeast = isPartial ? 'At least ' : '';
  return visitors.size > 0
    ? `${hasUnnamedVisitors ? 'At least ' : atLeast}${formatCount(visitors.size, 'visitor', 'visitors')} used ${shares.length === 1 ? 'this link' : 'these links'} in the last 7 days and will lose access.${checked}`
    : `${shares.length === 1 ? 'This link was' : 'These links were'} used ${atLeast.toLowerCase()}${formatCount(visits, 'time', 'times')} in the last 7 days.${checked}`;
}

export const activate: BulkAction<Share> = {
  name: 'Activate',
  effect: 'will be activated',
  doneText: 'activated',
  run: setActive(true),
  undo: (share) => setActive(share.active)(share, {}),
};

export const deactivate: BulkAction<Share> = {
  name: 'Deactivate',
  effect: 'will be deactivated. Visitors will see the message “This link does not exist”',
  doneText: 'deactivated',
  warning: usageWarning,
  run: setActive(false),
  undo: (share) => setActive(share.active)(share, {}),
};

export const replaceLink: BulkAction<Share> = {
  name: 'Replace link',
  effect: 'will get a new link. The old link stops working at once',
  doneText: 'got a new link',
  warning: usageWarning,
  run: ({ id }, options) => post('share/updateSharableLink', { id }, options),
};

export const deleteShares: BulkAction<Share> = {
  name: 'Delete',
  effect: 'will be deleted. The files stay. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  warning: usageWarning,
  run: ({ id }, options) => remove('share/delete', { id }, options),
};
