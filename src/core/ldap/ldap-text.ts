/** Escapes a value within a filter (RFC 4515, 3). */
const escapeInFilter = (value: string): string =>
  value.replace(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

const maxFilter = 16_384; // characters

/**
 * Fills the placeholders of a filter, such as `{username}`. Escapes the values, so that none of them can change the filter.
 * @returns null if the filter would be longer than 16,384 characters: a DN that a directory sends can be long, and parsing takes time
 */
export function fillFilter(template: string, values: Readonly<Record<string, string>>): string | null {
  const escapedValues = new Map(Object.entries(values).map(([name, value]) => [name, escapeInFilter(value)]));
  let filter = '';
  let end = 0;
  for (const { 0: placeholder, 1: name = '', index } of template.matchAll(/\{(\w+)\}/g)) {
    filter += template.slice(end, index) + (escapedValues.get(name) ?? placeholder);
    end = index + placeholder.length;
    if (filter.length > maxFilter) return null;
  }
  filter += template.slice(end);
  return filter.length > maxFilter ? null : filter;
}

/**
 * Fills `{username}` in a pattern for the name with which a user signs in at a directory.
 * @returns null for a name with other characters than letters, digits, spaces and `.`, `_`, `'`, `-`: they may have a meaning in a DN or in
 *   a user principal name. Also null for a name that is empty or longer than 255 characters, or that begins or ends with a space
 */
export const fillPattern = (pattern: string, username: string): string | null =>
  /^[\p{L}\p{N}._' -]{1,255}$/u.test(username) && username.trim() === username ? pattern.replaceAll('{username}', () => username) : null;

const maxDn = 4096; // characters
/** The first value of a DN, with its escapes: `\,` or `\2C` (RFC 4514, 3). */
const firstValue = /^[^=]*=((?:[^\\,+]|\\[0-9a-fA-F]{2}|\\.)*)/s;
const escapes = /(?:\\[0-9a-fA-F]{2})+|\\(.)/gs;

/** Decodes escaped bytes such as `\C4\8D`. */
const decodeBytes = (escaped: string) => Buffer.from(escaped.replaceAll('\\', ''), 'hex').toString();

/**
 * Returns the value of the first part of a DN, such as `editors` of `cn=editors,ou=groups,dc=example` (RFC 4514). Empty if there is no
 * such value, if it is encoded in hexadecimal (`#…`), or if the DN is too long.
 */
export function firstRdnValue(dn: string): string {
  const value = dn.length > maxDn ? '' : (firstValue.exec(dn)?.[1] ?? '');
  if (value.startsWith('#')) return '';
  return value.replace(escapes, (escaped, character?: string) => character ?? decodeBytes(escaped)).trim();
}

/** Returns whether a text has the form of a filter: parentheses around it, and each one closed. */
export function isFilter(text: string): boolean {
  if (!text.startsWith('(')) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}
