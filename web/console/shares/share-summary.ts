import { profileTypes } from '#core/records/login-profile.ts';
import { type PermissionFlags, permissions } from './permissions.ts';

/** The parts of a share that its summary sentence mentions. */
export interface SummaryParts extends PermissionFlags {
  readonly active: boolean;
  readonly path: string;
  readonly allowAllUsers: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Title and kind of the login profile. null: none is chosen. */
  readonly profile: { readonly title: string; readonly typeId: number } | null;
  /** Whether its files need a watermark. */
  readonly isProtected: boolean;
  /** Formatted start: `31 March 2027 at 17:00`. null: none. */
  readonly from: string | null;
  /** Formatted end: `until the end of 31 March 2027`. null: none. */
  readonly until: string | null;
  /** Whether `until` has passed. */
  readonly ended: boolean;
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const maxNames = 3;

function names({ users, groups }: SummaryParts): string {
  const all = [...users, ...groups.map((group) => `members of ${group}`)];
  if (all.length <= maxNames) return list.format(all);
  return list.format([...all.slice(0, maxNames - 1), `${all.length - maxNames + 1} more`]);
}

/** Returns the subject of the sentence, or null if nobody has access or no login profile is chosen. */
function subjectOf(parts: SummaryParts): string | null {
  const { profile, allowAllUsers, users, groups } = parts;
  if (!profile) return null;
  const { PUBLIC, PASSWORD } = profileTypes;
  if (!allowAllUsers && users.length === 0 && groups.length === 0) return null;
  if (profile.typeId === PUBLIC) return allowAllUsers ? 'Anyone with the link' : null;
  if (profile.typeId === PASSWORD && allowAllUsers) return `Anyone who knows the password of ${profile.title}`;
  return allowAllUsers ? `Everyone who signs in with ${profile.title}` : `${names(parts)}, signed in with ${profile.title},`;
}

/** Returns what visitors can do: "view and download /reports". An empty string: nothing. */
function actionsOf(parts: SummaryParts): string {
  const verbs = [...new Set(permissions.filter(({ flag }) => parts[flag]).map(({ verb }) => verb))];
  if (verbs.length === 0) return '';
  if (verbs.every((verb) => verb === 'view' || verb === 'download')) return `${list.format(verbs)} ${parts.path}`;
  if (verbs.every((verb) => verb === 'upload')) return `upload files to ${parts.path}`;
  const fileVerbs = verbs.filter((verb) => verb !== 'create folders');
  const actions = [fileVerbs.length > 0 && `${list.format(fileVerbs)} files`, parts.canCreateFolder && 'create folders'];
  return `${actions.filter(Boolean).join(' and ')} in ${parts.path}`;
}

const validityOf = ({ from, until }: SummaryParts) => `${from ? ` from ${from}` : ''}${until ? ` ${until}` : ''}`;

/** Returns a sentence about what the protection of the files means, or an empty string. */
const limitationOf = ({ isProtected }: SummaryParts): string =>
  isProtected ? ' Only PDF files, images and the pages of Office documents can be opened, all with a mark.' : '';

/** Returns a summary: "Ann and Bob, signed in with Clients, can view and download /reports until the end of 31 March 2027." */
export function shareSummary(parts: SummaryParts): string {
  if (parts.path === '') return 'Choose the file or folder to share.';
  const subject = subjectOf(parts);
  const allowed = actionsOf(parts);
  if (!parts.active) return `The link to ${parts.path} is inactive. Nobody can open it.`;
  if (parts.ended) return `The link to ${parts.path} was valid ${parts.until}. Nobody can open it now.`;
  if (subject === null) return `Nobody can open ${parts.path} yet. Choose who gets access.`;
  if (allowed === '') return `${subject} can open the link to ${parts.path}, but cannot do anything there.`;
  return `${subject} can ${allowed}${validityOf(parts)}.${limitationOf(parts)}`;
}
