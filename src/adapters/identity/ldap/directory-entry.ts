import type { Entry } from 'ldapts';
import { firstRdnValue } from '#core/ldap/ldap-text.ts';
import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';

const maxText = 255; // characters; longer text is ignored, not cut off: a shortened name could be the name of another user
const disabledAccount = 2; // ADS_UF_ACCOUNTDISABLE
const lockedForever = '000001010000Z'; // value of pwdAccountLockedTime: an administrator has locked the account
/** Active Directory counts in units of 100 ns since 1601. The epoch of JavaScript is later by `epochOffset` ms. */
const [ticksPerMs, epochOffset] = [10_000n, 11_644_473_600_000n];

const binaryAttributes: readonly string[] = ['objectGUID'];

/** Returns the search options that select the attributes of a user. */
export const userAttributes = ({ usernameAttribute, emailAttribute, nameAttribute }: LdapConfiguration) => ({
  attributes: [
    ...['entryUUID', 'objectGUID', 'displayName', 'cn', 'uid', 'sAMAccountName', 'memberOf'],
    ...['userAccountControl', 'accountExpires', 'pwdAccountLockedTime', 'nsAccountLock'],
    ...[usernameAttribute, emailAttribute, nameAttribute].filter((name) => name !== undefined),
  ],
  explicitBufferAttributes: [...binaryAttributes],
});

/** Returns the values of an attribute. Ignores the case of its name. */
function valuesOf(entry: Entry, attribute: string): readonly (string | Buffer)[] {
  const name = Object.keys(entry).find((one) => one.toLowerCase() === attribute.toLowerCase());
  const value = name === undefined ? undefined : entry[name];
  return value === undefined ? [] : [value].flat();
}

/** Returns all texts of an attribute. */
export const textsOf = (entry: Entry, attribute: string): readonly string[] =>
  valuesOf(entry, attribute)
    .filter((value) => typeof value === 'string')
    .filter((value) => value !== '');

/** Returns the first text of an attribute; '' if there is none, or if it is too long. */
export function textOf(entry: Entry, attribute: string | undefined): string {
  const [text = ''] = attribute === undefined ? [] : textsOf(entry, attribute);
  return text.length <= maxText ? text : '';
}

/** Returns what identifies an entry: its UUID or GUID, which a rename does not change, or its DN if it has neither. */
export function entryId(entry: Entry): string {
  const [guid] = valuesOf(entry, 'objectGUID');
  return textOf(entry, 'entryUUID') || (Buffer.isBuffer(guid) ? guid.toString('hex') : '') || entry.dn.toLowerCase();
}

/** Returns whether an account is disabled, locked by an administrator, or has expired. @param now ms since the epoch */
export function isDisabled(entry: Entry, now: number): boolean {
  if ((Number(textOf(entry, 'userAccountControl')) & disabledAccount) !== 0) return true;
  if (textOf(entry, 'pwdAccountLockedTime') === lockedForever || textOf(entry, 'nsAccountLock').toLowerCase() === 'true') return true;
  const expires = textOf(entry, 'accountExpires');
  return /^[1-9]\d*$/.test(expires) && BigInt(expires) / ticksPerMs - epochOffset < BigInt(now);
}

/** Returns the names by which a share may list a group: its DN, and the first value in the DN, such as `auditors` of `cn=auditors,…`. */
export const groupNames = (dn: string): readonly string[] =>
  [dn, firstRdnValue(dn)].filter((name) => name !== '' && name.length <= maxText);

/** Returns the username of an entry, from the attributes that hold it by default. */
export const defaultUsername = (entry: Entry): string => textOf(entry, 'sAMAccountName') || textOf(entry, 'uid');
