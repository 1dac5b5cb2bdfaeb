import { fold } from '#core/fold.ts';

const maxEmailLength = 254; // RFC 5321, 4.5.3.1.3, without the angle brackets
// One @, and nothing that a mail program or server could read as a second recipient or as another header.
const emailForm = /^[^\s\p{C}@,;:<>()[\]"\\]+@[^\s\p{C}@,;:<>()[\]"\\]+$/u;

/** Returns the text if it has the form of an e-mail address, else null. */
export function parseEmail(text: string): string | null {
  return text.length <= maxEmailLength && emailForm.test(text) ? text : null;
}

/** Returns a key that is equal for two spellings of one address. */
export const emailKey = (email: string): string => fold(email);

/** Returns a key that is equal for all sub-addresses of one mailbox, such as `ann+tag@example.com`. Rate limits count by this key. */
export function mailboxKey(email: string): string {
  const [local, domain] = partsOf(email);
  return emailKey(`${local.split('+', 1)[0]}@${domain}`);
}

/** Returns the parts of an address before and after its @. */
function partsOf(email: string): [local: string, domain: string] {
  const at = email.lastIndexOf('@');
  return [email.slice(0, at), email.slice(at + 1)];
}

/**
 * Returns whether an address has a character outside ASCII, such as the Kelvin sign, that becomes ASCII when it is folded. Such an
 * address belongs to a different mailbox or domain than the address that it is folded to.
 */
export const hasLookAlike = (email: string): boolean => [...email].some((char) => char > '\x7f' && /[\0-\x7f]/.test(emailKey(char)));

/**
 * Returns the address that a provider or a directory states, or an empty string if it is not an e-mail address, or if it
 * could be taken for another one.
 */
export const statedEmail = (text: string): string => (hasLookAlike(text) ? '' : (parseEmail(text) ?? ''));

/**
 * Returns the address to which a code is sent for an address that a visitor has entered, or null if the list does not admit it.
 * @param allowed addresses, and `*@domain` for all addresses of a domain
 * @returns the spelling of the list, or for `*@domain` the entered one
 */
export function findAllowedEmail(entered: string, allowed: readonly string[]): string | null {
  const listedEmail = allowed.find((entry) => !entry.startsWith('*@') && isSameEmail(entered, entry));
  if (listedEmail !== undefined) return listedEmail;
  const domainEntry = `*@${partsOf(entered)[1]}`;
  return !hasLookAlike(entered) && allowed.some((entry) => isSameEmail(domainEntry, entry)) ? entered : null;
}

/** Returns whether two addresses are spellings of one address. */
export const isSameEmail = (a: string, b: string): boolean =>
  a === b || (emailKey(a) === emailKey(b) && !hasLookAlike(a) && !hasLookAlike(b));
