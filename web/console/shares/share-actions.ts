import { type ChangeOptions, post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/records/bulk.ts';
import { formatCount } from '#console/records/format.ts';
import type { Share } from '#core/records/share.ts';

const week = 7 * 86_400_000; // ms
const maxSharesChecked = 20;

/** Changes that alone: what others have saved since the list was loaded stays. */
const setActive =
  (active: boolean) =>
  async ({ id }: Share, how: ChangeOptions) => {
    const share = await post<Share>('share/get', { id });
    await post('share/update', { ...share, active }, { ...how, ifMatch: share.etag });
  };

interface Activity {
  readonly byVisitor: readonly { readonly visits: number; readonly visitor: string }[];
}

/** Whom it would hit: those who used these links this week. */
async function usageWarning(shares: readonly Share[]): Promise<string> {
  const fromDate = new Date(Date.now() - week).toISOString();
  const checked = shares.slice(0, maxSharesChecked);
  const all = await Promise.all(checked.map(({ id }) => post<Activity>('share/activity', { id, fromDate })));
  const visitors = new Set(all.flatMap(({ byVisitor }) => byVisitor.map(({ visitor }) => visitor).filter(Boolean)));
  const visits = all.flatMap(({ byVisitor }) => byVisitor).reduce((sum, visitor) => sum + visitor.visits, 0);
  if (visits === 0) return '';
  return visitors.size > 0
    ? `${formatCount(visitors.size, 'person', 'people')} who used ${shares.length === 1 ? 'this link' : 'these links'} this week will lose it.`
    : `${shares.length === 1 ? 'This link was' : 'These links were'} used ${formatCount(visits, 'time', 'times')} this week.`;
}

export const activate: BulkAction<Share> = {
  name: 'Activate',
  effect: 'will be switched on',
  doneText: 'switched on',
  run: setActive(true),
  undo: (share) => setActive(share.active)(share, {}),
};

export const deactivate: BulkAction<Share> = {
  name: 'Deactivate',
  effect: 'will be switched off: the link answers as if it did not exist',
  doneText: 'switched off',
  warning: usageWarning,
  run: setActive(false),
  undo: (share) => setActive(share.active)(share, {}),
};

export const replaceLink: BulkAction<Share> = {
  name: 'New link',
  effect: 'will get a new link; the old one stops at once',
  doneText: 'with a new link',
  warning: usageWarning,
  run: ({ id }, how) => post('share/updateSharableLink', { id }, how),
};

export const deleteShares: BulkAction<Share> = {
  name: 'Delete',
  effect: 'will be deleted; the files stay. This cannot be undone',
  doneText: 'deleted',
  destructive: true,
  warning: usageWarning,
  run: ({ id }, how) => remove('share/delete', { id }, how),
};
