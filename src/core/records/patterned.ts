import Type from 'typebox';

/** Error texts by pattern, since users cannot be expected to read a regular expression. */
const errorTexts: Readonly<Record<string, string>> = {
  '^(?!\\s)[^\\p{Cc}\\p{Cs},:]*(?<!\\s)$': 'must not contain commas, colons or control characters, and must not begin or end with a space',
  '^(?:[^\\s\\p{Cc}\\p{Cs}@,]+@[^\\s\\p{Cc}\\p{Cs}@,]+)?$': 'must be an e-mail address such as ann@example.com',
  '^0[0-7]{3}$': 'must be file permissions in octal, such as "0640"',
  '^(/|files(/|$))': 'must be an absolute path, "files" or a folder below "files"',
  '^https?://[^\\s/?#@]+/?$': 'must be the address of a server, such as https://s3.example.com, without a path',
  '^[A-Za-z0-9-]{1,64}$': 'must consist of letters, digits and hyphens, such as eu-central-1',
  '^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$': 'must be the name of a bucket: 2 or more letters, digits and . - _, not first . - or _',
  '^[a-z0-9]{3,24}$': 'must be the name of a storage account: 3 to 24 lower-case letters and digits',
  '^https?://[^\\s?#@]+$': 'must be an address such as https://files.example.com/dav, without a query or a password',
  '^(\\$root|[a-z0-9](-?[a-z0-9]){2,62})$': 'must be the name of a container: 3 or more of a-z and 0-9, single hyphens inside; or $root',
  '^[A-Za-z0-9+/]{4,256}={0,2}$': 'must be a key in base64',
  '^[!-~]+$': 'must consist of visible ASCII characters, without spaces',
  '^[A-Za-z0-9.:_-]{1,253}$': 'must be a host name or an IP address, without a port',
  '^/': 'must begin with /',
  '^https?://[^\\s/]+': 'must begin with http:// or https://, and name a host',
  '^https://[^\\s/]+': 'must begin with https://, and name a host',
  '^ldaps?://[^\\s/]+': 'must begin with ldap:// or ldaps://, and name a host',
  '^[A-Za-z][\\w;-]*$': 'must be the name of an attribute, such as mail',
  '^(\\*|[^\\s@,*]+)@[^\\s@,*]+$': 'must be an e-mail address, or a domain such as *@example.com',
};

/** Returns the schema of a text that must match a pattern. @throws Error if the pattern has no error text */
export function patternText(
  pattern: string,
  options: { readonly maxLength?: number; readonly minLength?: number; readonly description?: string } = {},
) {
  if (!(pattern in errorTexts)) throw new Error(`the pattern ${pattern} has no error text`);
  return Type.String({ pattern, ...options });
}

/** Returns the error text for a text that does not match a pattern. */
export const patternErrorText = (pattern: string): string =>
  errorTexts[pattern] ?? 'must be plain text without control characters, in the format of the field';

const maxShownName = 64; // characters of the path of an unknown member

/** Returns the text for an error that the schema check of a configuration reported. */
export function schemaErrorText({
  keyword,
  instancePath,
  message,
  params,
}: {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}): string {
  const member = instancePath === '' ? 'the configuration' : instancePath.slice(1).replaceAll('/', '.');
  // `additionalProperties: false` gives every unknown member the schema `false`.
  if (keyword === 'boolean') return `${member.slice(0, maxShownName)} is not a known member`;
  const pattern: unknown = Reflect.get(params, 'pattern');
  if (keyword === 'pattern') return `${member} ${patternErrorText(pattern instanceof RegExp ? pattern.source : String(pattern))}`;
  return `${member} ${message}`;
}
