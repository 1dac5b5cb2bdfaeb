import { createPrivateKey } from 'node:crypto';
import Value from 'typebox/value';
import { parseClientKey } from '#core/openid/client-key.ts';
import { profileTypeName, profileTypes } from '#core/records/login-profile.ts';
import { schemaErrorText } from '#core/records/patterned.ts';
import { configurationProblem, configurationSchema, type OidcConfiguration, profileSecrets } from '#core/records/profile-configuration.ts';
import { configurationRefusal, containsMask, maskMembers, parseConfiguration, unmaskMembers } from '#features/records/secret-members.ts';

/** Returns why the client of an OIDC configuration cannot sign with its private key. Returns null if it can or need not sign. */
function privateKeyProblem({ clientAuth, clientSecret = '' }: OidcConfiguration): string | null {
  if (clientAuth !== 'private_key_jwt') return null;
  try {
    const parsed = parseClientKey(clientSecret, createPrivateKey);
    return 'problem' in parsed ? `clientSecret ${parsed.problem}` : null;
  } catch {
    return 'clientSecret is a damaged private key';
  }
}

/**
 * Checks a configuration for a type of login profile, and replaces masked secrets by the current ones.
 * @param text the text of the request body
 * @param current the stored text, secrets decrypted; empty if there is none
 * @returns the text to store, secrets decrypted
 * @throws Refusal (400) for the field `configuration`; if one member is wrong, the detail names it
 */
export function resolveConfiguration(typeId: number, text: string, current: string): string {
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
  const problem =
    configurationProblem(typeId, unmasked) ?? (typeId === profileTypes.OIDC ? privateKeyProblem(unmasked as OidcConfiguration) : null); // the schema has accepted it
  if (problem !== null) throw configurationRefusal(problem);
  return containsMask(value, profileSecrets) ? JSON.stringify(unmasked) : text;
}

/** Returns the text as responses contain it, with every secret masked. */
export const maskConfiguration = (text: string): string => maskMembers(text, profileSecrets);
