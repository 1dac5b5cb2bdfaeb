import Type, { type Static } from 'typebox';
import { bodyOf, etag, instant, limits, lineOf, recordId, requiredLine } from './field.ts';

/** Kinds of storage that Postern knows of; those not built yet are refused, naming those that are. */
export const locationKinds = ['local', 's3', 'azure', 'sftp', 'webdav'] as const;
export const builtKinds: readonly string[] = ['local'];

/** Every field of a location, once. */
export const locationFields = {
  id: recordId('Number of the location, unique in the installation.'),
  tid: recordId('Tenant that owns the location.'),
  name: requiredLine(limits.name, 'Name that shares use for the location.'),
  kind: lineOf(32, { description: `Kind of storage: ${locationKinds.join(', ')}.` }),
  configuration: Type.String({
    maxLength: limits.configuration,
    description: 'A JSON object in a string; for `local` { "folder": "/absolute/path" }.',
  }),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that changed it last.' }),
  createDateTime: instant('When the record was made.'),
  updateDateTime: instant('When it was changed last.'),
};

/** A location as it is answered. */
export const Location = Type.Object({ ...locationFields, etag });
export type Location = Static<typeof Location>;

export const NewLocation = bodyOf(locationFields, ['name', 'kind', 'configuration'], []);
export type NewLocation = Static<typeof NewLocation>;

export const LocationChange = bodyOf(locationFields, ['id'], ['name', 'configuration']);
export type LocationChange = Static<typeof LocationChange>;

/** Configuration of kind `local`. */
export const LocalConfiguration = Type.Object(
  { folder: Type.String({ pattern: '^/', maxLength: limits.path }) },
  { additionalProperties: false },
);
