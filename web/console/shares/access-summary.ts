import { parseList } from '#core/list-text.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const maxNames = 2;

/** Returns a short text about who has access to a share. @param title title of its login profile */
export function accessSummary({ authTypeId, allowAllUsers, userNames, groupNames }: Share, title: string): string {
  if (authTypeId === profileTypes.PUBLIC) return allowAllUsers ? 'Anyone with the link' : 'Nobody';
  if (allowAllUsers) return `Everyone who signs in with ${title}`;
  const names = [...(parseList(userNames) ?? []), ...(parseList(groupNames) ?? [])];
  if (names.length === 0) return 'Nobody';
  const more = names.length - maxNames;
  return more > 0 ? `${names.slice(0, maxNames).join(', ')} and ${more} more` : list.format(names);
}
