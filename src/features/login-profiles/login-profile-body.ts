import { countRanges, parseRanges } from '#core/authorization/address-range.ts';
import { fieldRefusal, runChecksSync } from '#core/messages.ts';
import { checkNotGuessable } from '#core/password-rules.ts';
import { limits } from '#core/records/field.ts';
import { type NewLoginProfile, profileTypes, secretMask, storedProfileFields } from '#core/records/login-profile.ts';
import { changesSignIn } from '#core/records/profile-configuration.ts';
import { languages } from '#core/translations/languages.ts';
import { normalizeText } from '#core/unicode.ts';
import { resolveConfiguration } from './configuration.ts';
import type { LoginProfileInput } from './insert-login-profile.ts';

type ProfileBody = Omit<NewLoginProfile, 'userCount'>;

function checkRanges(text: string): void {
  // The address of each request to a link is compared with the ranges: a long list would slow down all requests.
  if (countRanges(text) > limits.ranges)
    throw fieldRefusal('ipRange', `must have at most ${limits.ranges} entries: use CIDR blocks instead of single addresses`);
  const ranges = parseRanges(text);
  if ('invalidEntry' in ranges)
    throw fieldRefusal('ipRange', `"${ranges.invalidEntry}" is not an address, a CIDR block or a first-last range`);
}

function checkLanguage(lang: string): void {
  const allowedLanguages: readonly string[] = languages;
  if (lang !== '' && !allowedLanguages.includes(lang)) throw fieldRefusal('lang', `must be empty or one of ${languages.join(', ')}`);
}

/**
 * Checks the fields of a profile of type PASSWORD.
 * @param currentPassword is accepted again even if it does not comply with the present rules
 */
function checkPasswordProfile({ type_id, password, username }: LoginProfileInput, currentPassword: string): void {
  if (type_id !== profileTypes.PASSWORD) return;
  if (password === '') throw fieldRefusal('password', 'must be given for a profile of type PASSWORD');
  if (password !== currentPassword) checkNotGuessable(password, 'password');
  if (username.includes(':')) throw fieldRefusal('username', 'must not contain a colon');
}

/**
 * Returns the profile with the fields of a request merged in: null clears a field other than typeId, an absent field stays as it is.
 * @throws Refusal 400 at the invalid field
 */
export function mergeProfile(body: ProfileBody, current: LoginProfileInput): LoginProfileInput {
  const mergeText = (value: string | null | undefined, currentValue: string) =>
    value === undefined ? currentValue : normalizeText(value ?? '');
  if (body.typeId === null) throw fieldRefusal('typeId', `must be a number from 1 to ${Object.keys(profileTypes).length}`);
  const typeId = body.typeId ?? current.type_id;
  if (body.password === secretMask && current.password === '')
    throw fieldRefusal('password', `${secretMask} means "keep the current password", but the profile has none: send a password`);
  const columns = storedProfileFields.toColumns(body);
  const profile: LoginProfileInput = {
    ...current,
    ...columns,
    ip_range: (columns.ip_range ?? current.ip_range).trim(),
    type_id: typeId,
    password: body.password === secretMask ? current.password : mergeText(body.password, current.password),
    configuration: resolveConfiguration(typeId, mergeText(body.configuration, current.configuration), current.configuration),
  };
  runChecksSync(
    () => checkRanges(profile.ip_range),
    () => checkLanguage(profile.lang),
    () => checkPasswordProfile(profile, current.password),
  );
  return profile;
}

export const emptyProfile: LoginProfileInput = {
  ...storedProfileFields.toNewColumns({}),
  type_id: profileTypes.USERS,
  password: '',
  configuration: '',
};

/** Returns whether a change of these fields ends all sessions of the profile. A new viewId ends them too. */
export function endsSessions(before: LoginProfileInput, after: LoginProfileInput): boolean {
  if ((['type_id', 'username', 'password'] as const).some((field) => before[field] !== after[field])) return true;
  return changesSignIn(after.type_id, before.configuration, after.configuration);
}
