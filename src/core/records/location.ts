import Type, { type Static } from 'typebox';
import { bodyOf, etag, instant, limits, lineOf, recordId, requiredLine } from './field.ts';
import { patternText } from './patterned.ts';

/** Kinds of storage in the interface. Kinds that are not built yet are refused with an error that names the available ones. */
export const locationKinds = ['local', 's3', 'azure', 'sftp', 'webdav'] as const;
export const availableLocationKinds: readonly string[] = ['local'];

/** Maximum number of locations per tenant. The limit exists because a job checks every location each thirty seconds. */
export const maxLocations = 1000;

/** All fields of a location. */
export const locationFields = {
  id: recordId('Number of the location, unique in the installation.'),
  tid: recordId('Tenant that owns the location.'),
  name: requiredLine(limits.name, 'Name that shares use for the location.'),
  kind: lineOf(32, { description: `Kind of storage: ${locationKinds.join(', ')}.` }),
  configuration: Type.String({
    maxLength: limits.configuration,
    description:
      'A JSON object in a string; for `local` { "folder": "/absolute/path" }, with "fileMode" and "folderMode" such as "0640" and a "group" number where new files and folders are not to have those of their parent, or { "folder": "files" } for the folder of that name in POSTERN_DATA.',
  }),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that changed it last.' }),
  createDateTime: instant('When the record was made.'),
  updateDateTime: instant('When it was changed last.'),
};

/** A location in responses. */
export const Location = Type.Object({ ...locationFields, etag });
export type Location = Static<typeof Location>;

export const NewLocation = bodyOf(locationFields, ['name', 'kind', 'configuration'], []);
export type NewLocation = Static<typeof NewLocation>;

export const LocationChange = bodyOf(locationFields, ['id'], ['name', 'configuration']);
export type LocationChange = Static<typeof LocationChange>;

/** Members of a configuration that hold secrets, for all kinds. */
export const locationSecrets: readonly string[] = [
  'secretAccessKey',
  'sessionToken',
  'accountKey',
  'sasToken',
  'password',
  'privateKey',
  'passphrase',
  'bearerToken',
];

const modeField = (subject: string) =>
  patternText('^0[0-7]{3}$', { description: `${subject}, in octal as in chmod; default: those of the parent folder.` });

/** Configuration of kind `local`. The folder is absolute, or `files` or a folder below `files` in POSTERN_DATA. */
export const LocalConfiguration = Type.Object(
  {
    folder: patternText('^(/|files(/|$))', { maxLength: limits.path }),
    mountPoint: Type.Optional(
      Type.Boolean({ description: 'true: the folder is where a file system is mounted; while none is, the location does not answer.' }),
    ),
    fileMode: Type.Optional(modeField('Rights of new files')),
    folderMode: Type.Optional(modeField('Rights of new folders')),
    group: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4_294_967_294, description: 'Number of the group of new files and folders.' }),
    ),
  },
  { additionalProperties: false },
);
