import Type, { type Static, type TSchema } from 'typebox';
import { limits, lineOf } from './field.ts';
import { patternText } from './patterned.ts';

/** Kinds of storage in the REST API. */
export const storageKinds = ['local', 's3', 'azure', 'sftp', 'webdav'] as const;
type StorageKindName = (typeof storageKinds)[number];

const modeField = (subject: string) =>
  patternText('^0[0-7]{3}$', { description: `${subject}, in octal as for chmod. Default: inherited from the parent folder.` });

/** Configuration of kind `local`. The path is absolute, or `files` or a folder below `files` in POSTERN_DATA. */
export const LocalConfiguration = Type.Object(
  {
    path: Type.Optional(patternText('^(/|files(/|$))', { maxLength: limits.path })),
    /** The former name of `path`, still accepted. Exactly one of the two is required. */
    folder: Type.Optional(patternText('^(/|files(/|$))', { maxLength: limits.path })),
    mountPoint: Type.Optional(
      Type.Boolean({ description: 'true: the folder is a mount point. While nothing is mounted there, the location is unavailable.' }),
    ),
    fileMode: Type.Optional(modeField('Permissions of new files')),
    folderMode: Type.Optional(modeField('Permissions of new folders')),
    group: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_294_967_294, description: 'Group id of new files and folders.' })),
  },
  { additionalProperties: false },
);

/** A text of visible ASCII characters, such as one that is sent in a header or a URL. */
const headerText = (maxLength: number, description: string) => patternText('^[!-~]+$', { maxLength, description });

/** Configuration of kind `s3`: a bucket of Amazon S3 or of a service that speaks its protocol. */
export const S3Configuration = Type.Object(
  {
    endpoint: Type.Optional(
      patternText('^https?://[^\\s/?#@]+/?$', {
        maxLength: 1024,
        description: 'Address of the service. Default: Amazon S3 in the region.',
      }),
    ),
    publicEndpoint: Type.Optional(
      patternText('^https?://[^\\s/?#@]+/?$', {
        maxLength: 1024,
        description:
          'Address at which browsers reach the service, if it differs from endpoint. Visitors download single files from there if the proxyMode of the share is false and the share allows it.',
      }),
    ),
    region: patternText('^[A-Za-z0-9-]{1,64}$', { description: 'Region of the bucket, such as eu-central-1.' }),
    bucket: patternText('^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$', { description: 'Name of the bucket.' }),
    prefix: Type.Optional(
      lineOf(512, { description: 'Prefix of the keys of the location, such as reports/2026. It is the root of the location.' }),
    ),
    pathStyle: Type.Optional(
      Type.Boolean({
        description:
          'true: the bucket is the first part of the path. Default: it is the first part of the host name, unless the host is an IP address.',
      }),
    ),
    accessKeyId: Type.Optional(headerText(256, 'Id of the access key.')),
    secretAccessKey: Type.Optional(headerText(256, 'The secret of the access key.')),
    sessionToken: Type.Optional(headerText(8192, 'Token of a temporary access key.')),
    useMachineCredentials: Type.Optional(
      Type.Boolean({
        description: 'true: the role of the machine is used instead of an access key, if POSTERN_MACHINE_CREDENTIALS allows it.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type S3Configuration = Static<typeof S3Configuration>;

/** Configuration of kind `azure`: a container of Azure Blob Storage. */
export const AzureConfiguration = Type.Object(
  {
    account: Type.Optional(patternText('^[a-z0-9]{3,24}$', { description: 'Name of the storage account.' })),
    endpoint: Type.Optional(
      patternText('^https?://[^\\s?#@]+$', {
        maxLength: 1024,
        description: 'Address of the account, if it is not https://ACCOUNT.blob.core.windows.net.',
      }),
    ),
    container: patternText('^(\\$root|[a-z0-9](-?[a-z0-9]){2,62})$', { description: 'Name of the container.' }),
    prefix: Type.Optional(
      lineOf(512, {
        description: 'Prefix of the names of the blobs of the location, such as reports/2026. It is the root of the location.',
      }),
    ),
    hierarchicalNamespace: Type.Optional(
      Type.Boolean({ description: 'true: the account has a hierarchical namespace (Data Lake Storage), so its folders are real.' }),
    ),
    accountKey: Type.Optional(patternText('^[A-Za-z0-9+/]{4,256}={0,2}$', { description: 'A key of the account, in base64.' })),
    sasToken: Type.Optional(headerText(4096, 'A shared access signature (SAS) for the container.')),
    useMachineCredentials: Type.Optional(
      Type.Boolean({
        description: 'true: the managed identity of the machine is used, if POSTERN_MACHINE_CREDENTIALS allows it.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type AzureConfiguration = Static<typeof AzureConfiguration>;

/** Configuration of kind `webdav`: a folder on a WebDAV server. */
const WebdavConfiguration = Type.Object(
  {
    url: patternText('^https?://[^\\s?#@]+$', {
      maxLength: 1024,
      description: 'Address of the WebDAV server, with the path of its WebDAV folder.',
    }),
    root: Type.Optional(lineOf(512, { description: 'A folder below the address, such as reports/2026. It is the root of the location.' })),
    username: Type.Optional(lineOf(255, { description: 'Name with which Postern signs in.' })),
    password: Type.Optional(lineOf(1024, { description: 'Password of the user.' })),
    bearerToken: Type.Optional(headerText(4096, 'A token instead of a user name and a password.')),
  },
  { additionalProperties: false },
);
export type WebdavConfiguration = Static<typeof WebdavConfiguration>;

/** Configuration of kind `sftp`: a folder on an SFTP server. */
const SftpConfiguration = Type.Object(
  {
    host: patternText('^[A-Za-z0-9.:_-]{1,253}$', { description: 'Host name or IP address of the server.' }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port of the server. Default: 22.' })),
    username: lineOf(255, { description: 'Name with which Postern signs in.' }),
    password: Type.Optional(lineOf(1024, { description: 'Password of the user.' })),
    privateKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 16_384, description: 'Private key instead of a password, in PEM or in the form of OpenSSH.' }),
    ),
    passphrase: Type.Optional(lineOf(1024, { description: 'Passphrase of the private key.' })),
    hostKey: lineOf(2048, {
      description:
        'Public key of the server, as in a .pub file: type and base64. Postern does not connect to a server that has a different key.',
    }),
    root: patternText('^/', { maxLength: 1024, description: 'Absolute path of a folder at the server. It is the root of the location.' }),
  },
  { additionalProperties: false },
);
export type SftpConfiguration = Static<typeof SftpConfiguration>;

/** The form of a kind's configuration. */
export interface ConfigurationForm {
  readonly schema: TSchema;
  /** An example for error messages. */
  readonly example: string;
  /** Members that hold secrets. They are stored encrypted, and responses contain a mask instead. */
  readonly secrets: readonly string[];
  /** Members that name the server. If one changes, the secrets must be sent again, so that no other server gets the stored ones. */
  readonly server: readonly string[];
}

/** The form of each kind. */
export const locationConfigurations: { readonly [K in StorageKindName]: ConfigurationForm } = {
  local: { schema: LocalConfiguration, example: '{ "path": "/absolute/path" }', secrets: [], server: [] },
  s3: {
    schema: S3Configuration,
    example: '{ "region": "eu-central-1", "bucket": "reports", "accessKeyId": "…", "secretAccessKey": "…" }',
    secrets: ['secretAccessKey', 'sessionToken'],
    server: ['endpoint'],
  },
  azure: {
    schema: AzureConfiguration,
    example: '{ "account": "acme", "container": "reports", "accountKey": "…" }',
    secrets: ['accountKey', 'sasToken'],
    server: ['account', 'endpoint'],
  },
  webdav: {
    schema: WebdavConfiguration,
    example: '{ "url": "https://files.example.com/dav", "username": "postern", "password": "…" }',
    secrets: ['password', 'bearerToken'],
    server: ['url'],
  },
  sftp: {
    schema: SftpConfiguration,
    example: '{ "host": "sftp.example.com", "username": "postern", "password": "…", "hostKey": "ssh-ed25519 AAAA…", "root": "/srv/files" }',
    secrets: ['password', 'privateKey', 'passphrase'],
    server: ['host', 'port'],
  },
};

/** Members of a configuration that hold secrets, for all kinds. */
export const locationSecrets: readonly string[] = Object.values(locationConfigurations).flatMap(({ secrets }) => secrets);
