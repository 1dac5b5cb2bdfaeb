import { checkAll, fieldRefusal } from '#core/messages.ts';
import { checkGuessable } from '#core/password-rules.ts';
import { countRanges, parseRanges } from '#core/policy/address-range.ts';
import { limits } from '#core/records/field.ts';
import { profileTypes, secretMask } from '#core/records/login-profile.ts';
import { languages } from '#core/translations/languages.ts';
import { normalizeText } from '#core/unicode.ts';
import { readConfiguration } from './configuration.ts';
import type { ProfileText } from './insert-login-profile.ts';

interface Sent {
  readonly title?: string | null;
  readonly description?: string | null;
  readonly ipRange?: string | null;
  readonly typeId?: number | null;
  readonly username?: string | null;
  readonly password?: string | null;
  readonly lang?: string | null;
  readonly startupMessage?: string | null;
  readonly configuration?: string | null;
}

function checkRanges(text: string): void {
  // Any request at a link may ask for them to be read.
  if (countRanges(text) > limits.ranges)
    throw fieldRefusal('ipRange', `must have at most ${limits.ranges} entries: name blocks in place of single addresses`);
  const ranges = parseRanges(text);
  if ('wrong' in ranges) throw fieldRefusal('ipRange', `"${ranges.wrong}" is no address, CIDR block or first-last range`);
}

function checkLanguage(lang: string): void {
  const known: readonly string[] = languages;
  if (lang !== '' && !known.includes(lang)) throw fieldRefusal('lang', `must be empty or one of ${languages.join(', ')}`);
}

/** @param kept a password that was stored before it had to be this long stays */
function checkPasswordProfile({ type_id, password, username }: ProfileText, kept: string): void {
  if (type_id !== profileTypes.PASSWORD) return;
  if (password === '') throw fieldRefusal('password', 'must be given for a profile of type PASSWORD');
  if (password !== kept) checkGuessable(password, 'password');
  if (username.includes(':')) throw fieldRefusal('username', 'must not hold a colon');
}

/**
 * The profile as it will be: what is sent in place of what is; null clears, absence keeps.
 * @throws 400 at the field that is not right
 */
export function mergeProfile(sent: Sent, present: ProfileText): ProfileText {
  const text = (given: string | null | undefined, kept: string) => (given === undefined ? kept : normalizeText(given ?? ''));
  if (sent.typeId === null) throw fieldRefusal('typeId', 'must be a number from 1 to 7');
  const typeId = sent.typeId ?? present.type_id;
  if (sent.password === secretMask && present.password === '')
    throw fieldRefusal('password', `${secretMask} stands for a password that is kept; there is none yet`);
  const merged: ProfileText = {
    title: text(sent.title, present.title),
    description: text(sent.description, present.description),
    ip_range: text(sent.ipRange, present.ip_range).trim(),
    type_id: typeId,
    username: text(sent.username, present.username),
    password: sent.password === secretMask ? present.password : text(sent.password, present.password),
    lang: text(sent.lang, present.lang),
    startup_message: text(sent.startupMessage, present.startup_message),
    configuration: readConfiguration(typeId, text(sent.configuration, present.configuration), present.configuration),
  };
  checkAll(
    () => checkRanges(merged.ip_range),
    () => checkLanguage(merged.lang),
    () => checkPasswordProfile(merged, present.password),
  );
  return merged;
}

export const emptyProfile: ProfileText = {
  title: '',
  description: '',
  ip_range: '',
  type_id: profileTypes.USERS,
  username: '',
  password: '',
  lang: '',
  startup_message: '',
  configuration: '',
};

/** Does the change end the sessions of the profile (visit.md, Sessions)? */
export const endsSessions = (before: ProfileText, after: ProfileText) =>
  (['type_id', 'configuration', 'username', 'password'] as const).some((field) => before[field] !== after[field]);
