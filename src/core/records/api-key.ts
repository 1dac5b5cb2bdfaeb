import Type, { type Static } from 'typebox';
import { keyRoles } from '#core/policy/role.ts';
import { bodyOf, etag, instant, limits, lineOf, orNull, recordId, requiredLine } from './field.ts';

/** Name of the key that POSTERN_API_KEY holds. */
export const environmentKeyName = 'environment';

/** Every field of an API key, once; the key itself is answered by add alone. */
export const apiKeyFields = {
  id: recordId('Number of the key, unique in the installation.'),
  tid: recordId('Tenant that the key belongs to.'),
  name: requiredLine(limits.name, 'Name of the key, unique among the living keys of the tenant.'),
  role: Type.Unsafe<(typeof keyRoles)[number]>({
    type: 'string',
    enum: [...keyRoles],
    description: 'What the key may do: reader, editor or admin; metrics: to read /metrics, and nothing else.',
  }),
  firstCharacters: lineOf(16, { description: 'First characters of the key, to recognise it by.' }),
  expiryDateTime: instant('When the key ends; null: it does not.'),
  lastUsedDateTime: instant('When the key was last used, to the minute; null: never.'),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  createDateTime: instant('When the record was made.'),
};

/** An API key as it is answered. */
export const ApiKey = Type.Object({
  ...apiKeyFields,
  expiryDateTime: orNull(apiKeyFields.expiryDateTime),
  lastUsedDateTime: orNull(apiKeyFields.lastUsedDateTime),
  etag,
});
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = bodyOf(apiKeyFields, ['name', 'role'], ['expiryDateTime', 'tid']);
export type NewApiKey = Static<typeof NewApiKey>;
