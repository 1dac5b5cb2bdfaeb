import Type, { type Static } from 'typebox';
import { bodyOf, count, etag, limitField, limits, lineOf, orNull, recordId, requiredLine, stampFields } from './field.ts';
import { storageKinds } from './location-configurations.ts';

/** Maximum number of locations per tenant. The limit exists because each process checks every location every 30 s. */
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
      'A JSON object in a string. For `local`: { "path": "/absolute/path" }, or { "path": "files" } for the folder of that name in POSTERN_DATA; "folder", the former name of "path", is still accepted. Optional: "fileMode" such as "0640", "folderMode" such as "0750", and a "group" number, if new files and folders must not inherit those of their parent folder; "mountPoint": true if the folder is a mount point, so that the location is unavailable while nothing is mounted there. For `s3`: { "region": "eu-central-1", "bucket": "reports", "accessKeyId": "…", "secretAccessKey": "…" }; optional: "endpoint", "publicEndpoint", "prefix", "pathStyle", "sessionToken"; "useMachineCredentials": true instead of the access key. For `azure`: { "account": "acme", "container": "reports", "accountKey": "…" }; optional: "endpoint", "prefix"; "sasToken" or "useMachineCredentials": true instead of the key. For `webdav`: { "url": "https://files.example.com/dav", "username": "postern", "password": "…" }; optional: "root"; "bearerToken" instead of "username" and "password". For `sftp`: { "host": "sftp.example.com", "username": "postern", "privateKey": "-----BEGIN OPENSSH PRIVATE KEY-----…", "hostKey": "ssh-ed25519 AAAA…", "root": "/srv/files" }; optional: "port", "passphrase"; "password" instead of the key. Responses contain ******** instead of secrets; if you send the asterisks back, the secrets do not change. If "endpoint", "account", "url", "host" or "port" changes, the secrets must be sent again.',
  }),
  maxBytes: limitField('Quota: how many bytes the files of the location may have together. Uploads beyond it get 507. null: no limit.'),
  maxFiles: limitField('Quota: how many files the location may hold. Uploads beyond it get 507. null: no limit.'),
  usedBytes: count(
    'How many bytes the files of the location have. Changes through Postern are counted at once. Other changes are included when the files are counted again. null: the files were not counted yet.',
  ),
  usedFiles: count('How many files the location holds. Updated at the same times as usedBytes. null: the files were not counted yet.'),
  ...stampFields,
};

/** A location in responses. */
export const Location = Type.Object({
  ...locationFields,
  maxBytes: orNull(locationFields.maxBytes),
  maxFiles: orNull(locationFields.maxFiles),
  usedBytes: orNull(locationFields.usedBytes),
  usedFiles: orNull(locationFields.usedFiles),
  etag,
});
export type Location = Static<typeof Location>;

export const NewLocation = bodyOf(locationFields, ['name', 'kind', 'configuration'], ['maxBytes', 'maxFiles']);
export type NewLocation = Static<typeof NewLocation>;

export const LocationChange = bodyOf(locationFields, ['id'], ['name', 'configuration', 'maxBytes', 'maxFiles']);
export type LocationChange = Static<typeof LocationChange>;
