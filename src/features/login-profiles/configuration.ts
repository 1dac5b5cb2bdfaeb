import Value from 'typebox/value';
import { typeNameOf } from '#core/records/login-profile.ts';
import { schemaErrorText } from '#core/records/patterned.ts';
import { configurationSchema, secretKeys } from '#core/records/profile-configuration.ts';
import { configurationRefusal, holdsMask, maskMembers, parseConfiguration, unmaskMembers } from '#features/records/secret-members.ts';

/**
 * Reads a configuration for a type of login profile.
 * @param sent the text of the body
 * @param present the text so far, secrets open; empty: none
 * @returns the text to keep, secrets open
 * @throws 400 at configuration, with the place named
 */
export function readConfiguration(typeId: number, sent: string, present: string): string {
  const value = sent === '' ? null : parseConfiguration(sent);
  const schema = configurationSchema(typeId, value ?? {});
  if (!schema) {
    if (value && Object.keys(value).length > 0) throw configurationRefusal(`must be empty for type ${typeNameOf(typeId)}`);
    return '';
  }
  if (!value) throw configurationRefusal(`must be given for type ${typeNameOf(typeId)}`);
  const filled = unmaskMembers(value, secretKeys, present);
  const [fault] = Value.Errors(schema, filled);
  if (fault) throw configurationRefusal(schemaErrorText(fault));
  return holdsMask(value, secretKeys) ? JSON.stringify(filled) : sent;
}

/** The text as it is answered: every secret masked. */
export const maskConfiguration = (text: string): string => maskMembers(text, secretKeys);
