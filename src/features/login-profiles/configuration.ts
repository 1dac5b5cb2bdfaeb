import Value from 'typebox/value';
import { fieldRefusal } from '#core/messages.ts';
import { secretMask, typeNameOf } from '#core/records/login-profile.ts';
import { configurationSchema, secretKeys } from '#core/records/profile-configuration.ts';

const wrong = (detail: string) => fieldRefusal('configuration', detail);
const entriesOf = (value: object): [string, unknown][] => Object.entries(value);

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // said below, as for any other text that is no object
  }
  throw wrong('must be a JSON object in a string');
}

/** The mask leaves a secret as it is. */
function unmask(value: object, present: string): object {
  const known = present === '' ? {} : parse(present);
  const filled = entriesOf(value).map(([key, sent]) => {
    if (!secretKeys.includes(key) || sent !== secretMask) return [key, sent];
    const secret: unknown = Reflect.get(known, key);
    if (typeof secret !== 'string') throw wrong(`${key} must be the secret itself: there is none yet that ${secretMask} could stand for`);
    return [key, secret];
  });
  return Object.fromEntries(filled);
}

/**
 * Reads a configuration for a type of login profile.
 * @param sent the text of the body
 * @param present the text so far, secrets open; empty: none
 * @returns the text to keep, secrets open
 * @throws 400 at configuration, with the place named
 */
export function readConfiguration(typeId: number, sent: string, present: string): string {
  const value = sent === '' ? null : parse(sent);
  const schema = configurationSchema(typeId, value ?? {});
  if (!schema) {
    if (value && Object.keys(value).length > 0) throw wrong(`must be empty for type ${typeNameOf(typeId)}`);
    return '';
  }
  if (!value) throw wrong(`must be given for type ${typeNameOf(typeId)}`);
  const filled = unmask(value, present);
  const [fault] = Value.Errors(schema, filled);
  if (fault) throw wrong(`${fault.instancePath || 'the object'} ${fault.message}`);
  const masked = entriesOf(value).some(([key, text]) => secretKeys.includes(key) && text === secretMask);
  return masked ? JSON.stringify(filled) : sent;
}

/** The text as it is answered: every secret masked. */
export function maskConfiguration(text: string): string {
  if (text === '') return '';
  const entries = entriesOf(parse(text));
  if (!entries.some(([key]) => secretKeys.includes(key))) return text;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, secretKeys.includes(key) ? secretMask : value])));
}
