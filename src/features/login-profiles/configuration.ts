import Value from 'typebox/value';
import { profileTypeName } from '#core/records/login-profile.ts';
import { schemaErrorText } from '#core/records/patterned.ts';
import { configurationProblem, configurationSchema, profileSecrets } from '#core/records/profile-configuration.ts';
import { configurationRefusal, containsMask, maskMembers, parseConfiguration, unmaskMembers } from '#features/records/secret-members.ts';

/**
 * Checks a configuration for a type of login profile, and replaces masked secrets by the current ones.
 * @param text the text of the request body
 * @param current the stored text, secrets decrypted; empty if there is none
 * @returns the text to store, secrets decrypted
 * @throws Refusal 400 at configuration; the detail names the place in the text
 */
export function readConfiguration(typeId: number, text: string, current: string): string {
  const value = text === '' ? null : parseConfiguration(text);
  const schema = configurationSchema(typeId);
  if (!schema) {
    if (value && Object.keys(value).length > 0) throw configurationRefusal(`must be empty for type ${profileTypeName(typeId)}`);
    return '';
  }
  if (!value) throw configurationRefusal(`must be given for type ${profileTypeName(typeId)}`);
  const unmasked = unmaskMembers(value, profileSecrets, current);
  const [schemaError] = Value.Errors(schema, unmasked);
  if (schemaError) throw configurationRefusal(schemaErrorText(schemaError));
  const problem = configurationProblem(typeId, unmasked);
  if (problem !== null) throw configurationRefusal(problem);
  return containsMask(value, profileSecrets) ? JSON.stringify(unmasked) : text;
}

/** Returns the text as responses contain it, with every secret masked. */
export const maskConfiguration = (text: string): string => maskMembers(text, profileSecrets);
