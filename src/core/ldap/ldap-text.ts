/** Escapes a value within a filter (RFC 4515, 3). */
const escapeInFilter = (value: string): string =>
  value.replace(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Fills the placeholders of a filter, such as `{username}`. Whatever a value contains, it stays one value. */
export const fillFilter = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : escapeInFilter(value);
  });

/**
 * Fills `{username}` in a pattern for the name with which a user signs in at a directory.
 * @returns null for a name with characters that have a meaning in a DN or in a user principal name
 */
export const fillPattern = (pattern: string, username: string): string | null =>
  /^[\p{L}\p{N}._' -]{1,255}$/u.test(username) && username.trim() === username ? pattern.replaceAll('{username}', () => username) : null;

const hexPair = /^[0-9a-fA-F]{2}$/;

/** Returns the value of the first part of a DN, such as `editors` of `cn=editors,ou=groups,dc=example` (RFC 4514); empty if it has none. */
export function firstRdnValue(dn: string): string {
  const start = dn.indexOf('=') + 1;
  if (start === 0 || dn[start] === '#') return '';
  const bytes: Buffer[] = [];
  for (let at = start; at < dn.length; at += 1) {
    const character = dn[at] ?? '';
    if (character === ',' || character === '+') break;
    const escaped = dn.slice(at + 1, at + 3);
    if (character !== '\\') bytes.push(Buffer.from(character));
    else if (hexPair.test(escaped)) bytes.push(Buffer.from(escaped, 'hex'));
    else bytes.push(Buffer.from(dn[at + 1] ?? ''));
    if (character === '\\') at += hexPair.test(escaped) ? 2 : 1;
  }
  return Buffer.concat(bytes).toString('utf8').trim();
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
