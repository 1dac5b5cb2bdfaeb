import Type, { type Static, type TSchema } from 'typebox';
import { bodyOf, etag, limits, lineOf, recordId, requiredLine, stampFields } from './field.ts';
import { patternText } from './patterned.ts';

/** Kinds of storage in the REST API. Kinds that are not built yet are refused with an error that names the available ones. */
export const storageKinds = ['local', 's3', 'azure', 'sftp', 'webdav'] as const;
type StorageKindName = (typeof storageKinds)[number];

const modeField = (subject: string) =>
  patternText('^0[0-7]{3}$', { description: `${subject}, in octal as for chmod. Default: those of the parent folder.` });

/** Configuration of kind `local`. The folder is absolute, or `files` or a folder below `files` in POSTERN_DATA. */
export const LocalConfiguration = Type.Object(
  {
    folder: patternText('^(/|files(/|$))', { maxLength: limits.path }),
    mountPoint: Type.Optional(
      Type.Boolean({ description: 'true: the folder is a mount point. While nothing is mounted there, the location is unavailable.' }),
    ),
    fileMode: Type.Optional(modeField('Permissions of new files')),
    folderMode: Type.Optional(modeField('Permissions of new folders')),
    group: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_294_967_294, description: 'Group id of new files and folders.' })),
  },
  { additionalProperties: false },
);

/** The form of a kind's configuration, and an example of it for errors. */
interface ConfigurationForm {
  readonly schema: TSchema;
  readonly example: string;
}
/** The forms of the kinds that are available. */
export const locationConfigurations: { readonly [K in StorageKindName]?: ConfigurationForm } = {
  local: { schema: LocalConfiguration, example: '{ "folder": "/absolute/path" }' },
};

/** Maximum number of locations per tenant. The limit exists because a job checks every location every 30 seconds. */
export const maxLocations = 1000;

/** All fields of a location. */
export const locationFields = {
  id: recordId('Number of the location, unique in the installation.'),
  tid: recordId('Tenant that owns the location.'),
  name: requiredLine(limits.name, 'Name by which shares refer to the location.'),
  kind: lineOf(32, { description: `Kind of storage: ${storageKinds.join(', ')}.` }),
  configuration: Type.String({
    maxLength: limits.configuration,
    description:
      'A JSON object in a string. For `local`: { "folder": "/absolute/path" }, or { "folder": "files" } for the folder of that name in POSTERN_DATA. Optional: "fileMode" and "folderMode" such as "0640", and a "group" number, if new files and folders must not inherit those of their parent folder.',
  }),
  ...stampFields,
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
