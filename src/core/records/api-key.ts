import Type, { type Static } from 'typebox';
import { keyRoles } from '#core/authorization/role.ts';
import { bodyOf, etag, instant, limits, lineOf, orNull, recordId, requiredLine } from './field.ts';

/** Name of the key in POSTERN_API_KEY. */
export const environmentKeyName = 'environment';

/** All fields of an API key. The key itself is not among them: only the response of add has it. */
export const apiKeyFields = {
  id: recordId('Number of the key, unique in the installation.'),
  tid: recordId('Tenant that the key belongs to.'),
  name: requiredLine(limits.name, 'Name of the key, unique among the keys of the tenant that have not expired.'),
  role: Type.Unsafe<(typeof keyRoles)[number]>({
    type: 'string',
    enum: [...keyRoles],
    description: 'Role of the key: reader, editor or admin. metrics: may only read /metrics.',
  }),
  firstCharacters: lineOf(16, { description: 'First characters of the key, to identify it.' }),
  expiryDateTime: instant('When the key expires; null: never.'),
  lastUsedDateTime: instant('When the key was last used, to the minute; null: never.'),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that created the record.' }),
  createDateTime: instant('When the record was created.'),
};

/** An API key in responses. */
export const ApiKey = Type.Object({
  ...apiKeyFields,
  expiryDateTime: orNull(apiKeyFields.expiryDateTime),
  lastUsedDateTime: orNull(apiKeyFields.lastUsedDateTime),
  etag,
});
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = bodyOf(apiKeyFields, ['name', 'role'], ['expiryDateTime', 'tid']);
export type NewApiKey = Static<typeof NewApiKey>;
