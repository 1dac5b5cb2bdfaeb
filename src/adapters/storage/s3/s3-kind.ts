import { cacheStorages } from '#adapters/storage/storage-cache.ts';
import type { StorageKind } from '#adapters/storage/storage-kinds.ts';
import { parseItemPath } from '#core/item-path.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { S3Services } from './s3-storage.ts';

/**
 * Parses a configuration, whose form was checked before.
 * @throws StorageUnavailable if it is empty, because it could not be decrypted
 */
function parseS3Configuration(text: string): S3Configuration {
  const configuration: S3Configuration = JSON.parse(text);
  if (!configuration.bucket) throw new StorageUnavailable('the configuration of the location has no bucket');
  return configuration;
}

/** An endpoint of Amazon S3, also one within a VPC. Other names in amazonaws.com may belong to machines of any customer of Amazon. */
const amazonEndpoint =
  /^https:\/\/([a-z0-9-]+\.)*s3(-fips|-accelerate)?(\.dualstack)?(\.[a-z]{2}(-[a-z]+)+-\d)?(\.vpce)?\.amazonaws\.com(\.cn)?\/?$/;

/**
 * Returns what is wrong with the addresses of a configuration, or null. The role of the machine may be used for Amazon alone: other
 * services must not get its session token, which is also part of the addresses that browsers get.
 */
function addressErrorOf({ useMachineCredentials = false, endpoint, publicEndpoint }: S3Configuration): string | null {
  if (!useMachineCredentials) return null;
  const wrongMember = Object.entries({ endpoint, publicEndpoint }).find(
    ([, address]) => address !== undefined && !amazonEndpoint.test(address),
  );
  return wrongMember ? `${wrongMember[0]} must be an https address of Amazon S3, or be absent, if useMachineCredentials is true` : null;
}

/** Returns what is wrong with the credentials of a configuration, or null. */
function credentialsErrorOf(configuration: S3Configuration, mayUseMachine: boolean): string | null {
  const { accessKeyId, secretAccessKey, sessionToken, useMachineCredentials = false } = configuration;
  if (!useMachineCredentials) {
    if (accessKeyId === undefined) return 'accessKeyId is required, or useMachineCredentials: true';
    return secretAccessKey === undefined ? 'secretAccessKey is required, or useMachineCredentials: true' : null;
  }
  if (!mayUseMachine) return 'useMachineCredentials must be allowed for the tenant by an operator, with POSTERN_MACHINE_CREDENTIALS';
  if ([accessKeyId, secretAccessKey, sessionToken].some((member) => member !== undefined))
    return 'useMachineCredentials cannot be combined with accessKeyId, secretAccessKey or sessionToken';
  return addressErrorOf(configuration);
}

/**
 * Returns the kind `s3`: buckets of Amazon S3 and of services that speak its protocol. Locations of different tenants may overlap,
 * because each tenant enters the credentials itself, or an operator allows it to use those of the machine.
 * @param machineTenants ids of the tenants that may use the role of this machine
 */
export const s3Kind = (services: S3Services, machineTenants: readonly number[]): StorageKind => ({
  open: cacheStorages(async ({ tid, configuration }) => {
    const { openS3Storage } = await import('./s3-storage.ts'); // most installations have no such location
    const parsed = parseS3Configuration(configuration);
    const addressError = addressErrorOf(parsed); // an earlier version may have stored the configuration without this check
    if (addressError) throw new StorageUnavailable(addressError);
    return openS3Storage(parsed, tid, services);
  }),
  async configurationError({ tid, configuration: text }) {
    const configuration = parseS3Configuration(text);
    const { endpoint, prefix = '', bucket, pathStyle = false } = configuration;
    const credentialsError = credentialsErrorOf(configuration, machineTenants.includes(tid));
    if (credentialsError) return credentialsError;
    if (endpoint !== undefined && (!URL.canParse(endpoint) || endpoint.includes('\\')))
      return 'endpoint must be the address of a server, such as https://s3.example.com';
    if (bucket.includes('.') && !pathStyle && !endpoint?.startsWith('http:'))
      return 'pathStyle must be true for a bucket with a dot in its name: the certificate of the service is not valid for such a host name';
    // A URL cannot hold the segments `.` and `..` of a key.
    return parseItemPath(`/${prefix}`) ? null : 'prefix must be a path, such as reports/2026';
  },
  async [Symbol.asyncDispose]() {},
});
