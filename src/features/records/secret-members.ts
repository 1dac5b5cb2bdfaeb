import { fieldRefusal } from '#core/messages.ts';
import { secretMask } from '#core/records/login-profile.ts';

/** Returns the refusal with status 400 for the field `configuration`. */
export const configurationRefusal = (detail: string) => fieldRefusal('configuration', detail);

const entriesOf = (value: object): [string, unknown][] => Object.entries(value);

/** Parses a configuration, which is a JSON object in a string. @throws Refusal (400) at `configuration` */
export function parseConfiguration(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // the same error as for JSON that is not an object
  }
  throw configurationRefusal('must be a JSON object in a string');
}

/**
 * Replaces each mask with the current secret, since a client sends a mask to leave a secret unchanged.
 * @param secrets names of the members whose value is a secret
 * @param current the current configuration with its secrets in plain text; empty: none
 * @throws Refusal (400) if no current secret exists for a mask
 */
export function unmaskMembers(value: object, secrets: readonly string[], current: string): object {
  const existing = current === '' ? {} : parseConfiguration(current);
  const entries = entriesOf(value).map(([key, sent]) => {
    if (!secrets.includes(key) || sent !== secretMask) return [key, sent];
    const secret: unknown = Reflect.get(existing, key);
    if (typeof secret !== 'string')
      throw configurationRefusal(`${key} must be the secret itself, not ${secretMask}: no secret is stored yet`);
    return [key, secret];
  });
  return Object.fromEntries(entries);
}

export const containsMask = (value: object, secrets: readonly string[]) =>
  entriesOf(value).some(([key, text]) => secrets.includes(key) && text === secretMask);

/** Returns the configuration with every secret masked, for responses and the audit log. */
export function maskMembers(text: string, secrets: readonly string[]): string {
  if (text === '') return '';
  const entries = entriesOf(parseConfiguration(text));
  if (!entries.some(([key]) => secrets.includes(key))) return text;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, secrets.includes(key) ? secretMask : value])));
}
