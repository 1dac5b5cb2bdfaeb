import { type QuotaValues, quotaBodyOf, quotaValuesOf } from '#console/components/quota-fields.tsx';
import { changedFieldsBy } from '#console/components/record-editor.tsx';
import type { Location } from '#core/records/location.ts';

/** The form values of a location. Each member of the configuration that the form shows is a separate field. */
export interface LocationValues extends QuotaValues, Record<string, unknown> {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly endpoint: string;
  readonly publicEndpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly pathStyle: boolean;
  readonly useMachineCredentials: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly account: string;
  readonly container: string;
  readonly hierarchicalNamespace: boolean;
  readonly accountKey: string;
  readonly sasToken: string;
  readonly url: string;
  readonly root: string;
  readonly username: string;
  readonly password: string;
  readonly bearerToken: string;
  readonly host: string;
  readonly port: number | string;
  readonly hostKey: string;
  readonly privateKey: string;
  readonly passphrase: string;
  /** The members of the configuration that the form does not show. They are sent back unchanged. */
  readonly rest: Readonly<Record<string, unknown>>;
}

export const emptyLocation: LocationValues = {
  name: '',
  kind: 'local',
  path: '',
  endpoint: '',
  publicEndpoint: '',
  region: '',
  bucket: '',
  prefix: '',
  pathStyle: false,
  useMachineCredentials: false,
  accessKeyId: '',
  secretAccessKey: '',
  sessionToken: '',
  account: '',
  container: '',
  hierarchicalNamespace: false,
  accountKey: '',
  sasToken: '',
  url: '',
  root: '',
  username: '',
  password: '',
  bearerToken: '',
  host: '',
  port: '',
  hostKey: '',
  privateKey: '',
  passphrase: '',
  maxGigabytes: '',
  maxFiles: '',
  rest: {},
};

/** The members of each kind's configuration that the form shows, the main one first. */
const membersOf: Readonly<Record<string, readonly string[]>> = {
  local: ['path'],
  s3: [
    'bucket',
    'endpoint',
    'publicEndpoint',
    'region',
    'prefix',
    'pathStyle',
    'useMachineCredentials',
    'accessKeyId',
    'secretAccessKey',
    'sessionToken',
  ],
  azure: ['container', 'account', 'endpoint', 'prefix', 'hierarchicalNamespace', 'useMachineCredentials', 'accountKey', 'sasToken'],
  sftp: ['host', 'port', 'hostKey', 'root', 'username', 'password', 'privateKey', 'passphrase'],
  webdav: ['url', 'root', 'username', 'password', 'bearerToken'],
};

/** Returns the field that shows errors of the configuration that name no field. */
export const mainFieldOf = ({ kind }: LocationValues): string => membersOf[kind]?.[0] ?? 'name';

/** Returns the form values of a location. */
export function locationValuesOf({ name, kind, configuration, maxBytes, maxFiles }: Location): LocationValues {
  const { folder, ...others }: Record<string, unknown> = configuration === '' ? {} : JSON.parse(configuration);
  const members = folder === undefined ? others : { path: folder, ...others }; // `folder` is the former name of `path`
  const isShown = ([member]: readonly [string, unknown]) => membersOf[kind]?.includes(member) ?? false;
  const [shown, rest] = [true, false].map((wanted) => Object.entries(members).filter((entry) => isShown(entry) === wanted));
  const values = { ...emptyLocation, ...Object.fromEntries(shown ?? []), rest: Object.fromEntries(rest ?? []) };
  return { ...values, ...quotaValuesOf({ maxBytes, maxFiles }), name, kind };
}

/** Returns the body of location/add and location/update, without `id` and `kind`. Empty and false configuration fields are left out. */
export function locationBodyOf(values: LocationValues) {
  const members = membersOf[values.kind] ?? [];
  const nonEmptyMembers = members.map((member) => [member, values[member]] as const).filter(([, value]) => value !== '' && value !== false);
  const configuration = JSON.stringify({ ...Object.fromEntries(nonEmptyMembers), ...values.rest });
  return { name: values.name, configuration, ...quotaBodyOf(values) };
}

export const changedLocationFields = changedFieldsBy<LocationValues>({
  endpoint: 'address of the service',
  publicEndpoint: 'address of the service for browsers',
  prefix: 'folder',
  pathStyle: 'bucket in the path',
  useMachineCredentials: 'identity of this machine',
  accessKeyId: 'access key id',
  secretAccessKey: 'secret access key',
  sessionToken: 'session token',
  account: 'storage account',
  hierarchicalNamespace: 'hierarchical namespace',
  accountKey: 'account key',
  sasToken: 'SAS token',
  url: 'address of the server',
  root: 'folder',
  username: 'user name',
  bearerToken: 'bearer token',
  host: 'server',
  hostKey: 'host key',
  privateKey: 'private key',
  maxGigabytes: 'quota',
  maxFiles: 'quota',
});
