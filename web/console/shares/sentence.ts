import { profileTypes } from '#core/records/login-profile.ts';
import { type PermissionFlags, permissions } from './permissions.ts';

/** What a share comes to, as far as one sentence tells it. */
export interface SentenceParts extends PermissionFlags {
  readonly active: boolean;
  readonly path: string;
  readonly allowAllUsers: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Title and kind of its login profile, and whether that kind signs anybody in yet; null: none is chosen yet. */
  readonly profile: { readonly title: string; readonly typeId: number; readonly available: boolean } | null;
  /** Would its files have to be marked or signed? */
  readonly marked: boolean;
  /** As they are to be read: `31 March 2027`; null: there is none. */
  readonly from: string | null;
  readonly until: string | null;
  /** Is `until` over? */
  readonly ended: boolean;
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const maxNames = 3;

function names({ users, groups }: SentenceParts): string {
  const all = [...users, ...groups.map((group) => `members of ${group}`)];
  if (all.length <= maxNames) return list.format(all);
  return list.format([...all.slice(0, maxNames - 1), `${all.length - maxNames + 1} more`]);
}

/** Who, as the beginning of a sentence; null: nobody. */
function subjectOf(parts: SentenceParts): string | null {
  const { profile, allowAllUsers, users, groups } = parts;
  if (!profile) return null;
  const { PUBLIC, PASSWORD } = profileTypes;
  if (!allowAllUsers && users.length === 0 && groups.length === 0) return null;
  if (profile.typeId === PUBLIC) return allowAllUsers ? 'Anyone with the link' : null;
  if (profile.typeId === PASSWORD && allowAllUsers) return `Anyone who knows the password of ${profile.title}`;
  return allowAllUsers ? `Everyone who signs in by ${profile.title}` : `${names(parts)}, signed in by ${profile.title},`;
}

const verbsOf = (told: SentenceParts) => [...new Set(permissions.filter(({ flag }) => told[flag]).map(({ verb }) => verb))];

const validityOf = ({ from, until }: SentenceParts) => `${from ? ` from ${from}` : ''}${until ? ` until ${until}` : ''}`;

/** What keeps the sentence from being true yet. */
function limitationOf({ profile, marked }: SentenceParts): string {
  if (profile && !profile.available) return ` Sign-in by ${profile.title} is not available yet: until then nobody comes in.`;
  return marked ? ' Files that would have to be marked or signed are not handed out yet.' : '';
}

/** "Ann and Bob, signed in by Clients, may look at and download /reports until 31 March 2027." */
export function sentenceOf(told: SentenceParts): string {
  if (told.path === '') return 'Choose what is to be shared.';
  const persons = subjectOf(told);
  const allowed = verbsOf(told);
  if (!told.active) return `The link to ${told.path} is switched off: nobody can open it.`;
  if (told.ended) return `The link to ${told.path} ended on ${told.until}: nobody can open it.`;
  if (persons === null) return `Nobody may open ${told.path} yet: choose who.`;
  if (allowed.length === 0) return `${persons} may open the link to ${told.path}, and do nothing there.`;
  return `${persons} may ${list.format(allowed)} ${told.path}${validityOf(told)}.${limitationOf(told)}`;
}
