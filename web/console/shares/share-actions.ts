import { type How, post, remove } from '#console/api/call.ts';
import type { BulkAction } from '#console/records/bulk.ts';
import { counted } from '#console/records/format.ts';
import type { Share } from '#core/records/share.ts';

const week = 7 * 86_400_000; // ms
const mostAsked = 20;

/** Changes that alone: what others have saved since the list was loaded stays. */
const setActive =
  (active: boolean) =>
  async ({ id }: Share, how: How) => {
    const share = await post<Share>('share/get', { id });
    await post('share/update', { ...share, active }, { ...how, ifMatch: share.etag });
  };

interface Activity {
  readonly byVisitor: readonly { readonly visits: number; readonly visitor: string }[];
}

/** Whom it would hit: those who used these links this week. */
async function whoLoses(shares: readonly Share[]): Promise<string> {
  const fromDate = new Date(Date.now() - week).toISOString();
  const asked = shares.slice(0, mostAsked);
  const all = await Promise.all(asked.map(({ id }) => post<Activity>('share/activity', { id, fromDate })));
  const named = new Set(all.flatMap(({ byVisitor }) => byVisitor.map(({ visitor }) => visitor).filter(Boolean)));
  const visits = all.flatMap(({ byVisitor }) => byVisitor).reduce((sum, visitor) => sum + visitor.visits, 0);
  if (visits === 0) return '';
  return named.size > 0
    ? `${counted(named.size, 'person', 'people')} who used ${shares.length === 1 ? 'this link' : 'these links'} this week will lose it.`
    : `${shares.length === 1 ? 'This link was' : 'These links were'} used ${counted(visits, 'time', 'times')} this week.`;
}

export const activate: BulkAction<Share> = {
  name: 'Activate',
  does: 'will be switched on',
  done: 'switched on',
  run: setActive(true),
  undo: (share) => setActive(share.active)(share, {}),
};

export const deactivate: BulkAction<Share> = {
  name: 'Deactivate',
  does: 'will be switched off: the link answers as if it did not exist',
  done: 'switched off',
  warning: whoLoses,
  run: setActive(false),
  undo: (share) => setActive(share.active)(share, {}),
};

export const newLink: BulkAction<Share> = {
  name: 'New link',
  does: 'will get a new link; the old one stops at once',
  done: 'with a new link',
  warning: whoLoses,
  run: ({ id }, how) => post('share/updateSharableLink', { id }, how),
};

export const deleteShares: BulkAction<Share> = {
  name: 'Delete',
  does: 'will be deleted; the files stay. This cannot be undone',
  done: 'deleted',
  loss: true,
  warning: whoLoses,
  run: ({ id }, how) => remove('share/delete', { id }, how),
};
