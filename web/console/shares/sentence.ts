import { profileTypes } from '#core/records/login-profile.ts';
import { type PermissionFlags, permissions } from './permissions.ts';

/** The parts of a share that its summary sentence mentions. */
export interface SentenceParts extends PermissionFlags {
  readonly active: boolean;
  readonly path: string;
  readonly allowAllUsers: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Title and kind of the login profile, and whether that kind is available yet. null: none is chosen. */
  readonly profile: { readonly title: string; readonly typeId: number; readonly available: boolean } | null;
  /** Whether its files must be marked or signed. */
  readonly marked: boolean;
  /** Formatted start: `31 March 2027`. null: none. */
  readonly from: string | null;
  /** Formatted end. null: none. */
  readonly until: string | null;
  /** Whether `until` has passed. */
  readonly ended: boolean;
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const maxNames = 3;

function names({ users, groups }: SentenceParts): string {
  const all = [...users, ...groups.map((group) => `members of ${group}`)];
  if (all.length <= maxNames) return list.format(all);
  return list.format([...all.slice(0, maxNames - 1), `${all.length - maxNames + 1} more`]);
}

/** Returns the subject of the sentence, or null if nobody has access. */
function subjectOf(parts: SentenceParts): string | null {
  const { profile, allowAllUsers, users, groups } = parts;
  if (!profile) return null;
  const { PUBLIC, PASSWORD } = profileTypes;
  if (!allowAllUsers && users.length === 0 && groups.length === 0) return null;
  if (profile.typeId === PUBLIC) return allowAllUsers ? 'Anyone with the link' : null;
  if (profile.typeId === PASSWORD && allowAllUsers) return `Anyone who knows the password of ${profile.title}`;
  return allowAllUsers ? `Everyone who signs in with ${profile.title}` : `${names(parts)}, signed in with ${profile.title},`;
}

const verbsOf = (told: SentenceParts) => [...new Set(permissions.filter(({ flag }) => told[flag]).map(({ verb }) => verb))];

const validityOf = ({ from, until }: SentenceParts) => `${from ? ` from ${from}` : ''}${until ? ` until ${until}` : ''}`;

/** Returns a sentence about what is not available yet, or an empty text. */
function limitationOf({ profile, marked }: SentenceParts): string {
  if (profile && !profile.available) return ` Sign-in with ${profile.title} is not available yet. Until then, nobody can open the link.`;
  return marked ? ' Visitors cannot open files that must be marked or signed yet.' : '';
}

/** Returns a summary: "Ann and Bob, signed in with Clients, can view and download /reports until 31 March 2027." */
export function sentenceOf(told: SentenceParts): string {
  if (told.path === '') return 'Choose the file or folder to share.';
  const subject = subjectOf(told);
  const allowed = verbsOf(told);
  if (!told.active) return `The link to ${told.path} is inactive. Nobody can open it.`;
  if (told.ended) return `The link to ${told.path} ended on ${told.until}: nobody can open it.`;
  if (subject === null) return `Nobody may open ${told.path} yet: choose who.`;
  if (allowed.length === 0) return `${subject} may open the link to ${told.path}, and do nothing there.`;
  return `${subject} can ${list.format(allowed)} ${told.path}${validityOf(told)}.${limitationOf(told)}`;
}
