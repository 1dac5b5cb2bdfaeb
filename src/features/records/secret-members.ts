import { fieldRefusal } from '#core/messages.ts';
import { secretMask } from '#core/records/login-profile.ts';

/** 400 at `configuration`. */
export const configurationRefusal = (detail: string) => fieldRefusal('configuration', detail);

const entriesOf = (value: object): [string, unknown][] => Object.entries(value);

/** Reads a configuration, which is a JSON object in a text. @throws 400 at `configuration` */
export function parseConfiguration(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // said below, as for any other text that is no object
  }
  throw configurationRefusal('must be a JSON object in a string');
}

/**
 * Puts the secrets back for which a mask was sent: the mask leaves a secret as it is.
 * @param secrets members whose value is a secret
 * @param present the configuration so far, secrets open; empty: none
 * @throws 400 where there is no secret that the mask could stand for
 */
export function unmaskMembers(value: object, secrets: readonly string[], present: string): object {
  const known = present === '' ? {} : parseConfiguration(present);
  const filled = entriesOf(value).map(([key, sent]) => {
    if (!secrets.includes(key) || sent !== secretMask) return [key, sent];
    const secret: unknown = Reflect.get(known, key);
    if (typeof secret !== 'string')
      throw configurationRefusal(`${key} must be the secret itself: there is none yet that ${secretMask} could stand for`);
    return [key, secret];
  });
  return Object.fromEntries(filled);
}

/** Is a secret of this configuration sent as its mask? */
export const holdsMask = (value: object, secrets: readonly string[]) =>
  entriesOf(value).some(([key, text]) => secrets.includes(key) && text === secretMask);

/** A configuration as it is answered and audited: every secret masked. */
export function maskMembers(text: string, secrets: readonly string[]): string {
  if (text === '') return '';
  const entries = entriesOf(parseConfiguration(text));
  if (!entries.some(([key]) => secrets.includes(key))) return text;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, secrets.includes(key) ? secretMask : value])));
}
