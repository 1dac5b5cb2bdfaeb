import Type from 'typebox';

/** What a text that a pattern refuses must be, in words: a regular expression helps nobody. */
const words: Readonly<Record<string, string>> = {
  '^(?!\\s)[^\\p{Cc}\\p{Cs},:]*(?<!\\s)$': 'must hold no comma, no colon and no control characters, and must not begin or end with a space',
  '^(?:[^\\s\\p{Cc}\\p{Cs}@,]+@[^\\s\\p{Cc}\\p{Cs}@,]+)?$': 'must be an e-mail address such as ann@example.com',
  '^0[0-7]{3}$': 'must be rights in octal, such as "0640"',
  '^(/|files(/|$))': 'must begin with /, or be files or a folder below it',
  '^https?://[^\\s/]+': 'must begin with http:// or https://, and name a host',
  '^https://[^\\s/]+': 'must begin with https://, and name a host',
  '^ldaps?://[^\\s/]+': 'must begin with ldap:// or ldaps://, and name a host',
  '^(\\*|[^\\s@,*]+)@[^\\s@,*]+$': 'must be an e-mail address, or all of a domain as in *@example.com',
};

/** A text that has a form, which a refusal says in words. */
export function patterned(
  pattern: string,
  options: { readonly maxLength?: number; readonly minLength?: number; readonly description?: string } = {},
) {
  if (!(pattern in words)) throw new Error(`the pattern ${pattern} has no words`);
  return Type.String({ pattern, ...options });
}

/** Returns what a text must be that a pattern refused. */
export const patternWords = (pattern: string): string =>
  words[pattern] ?? 'must be plain text: no control characters, and nothing that the field rules out';

/** What a check of a configuration found, in words. */
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
  const place = instancePath === '' ? 'the object' : instancePath.slice(1).replaceAll('/', '.');
  const pattern: unknown = Reflect.get(params, 'pattern');
  if (keyword === 'pattern') return `${place} ${patternWords(pattern instanceof RegExp ? pattern.source : String(pattern))}`;
  return `${place} ${message}`;
}
