import { cacheStorages } from '#adapters/storage/storage-cache.ts';
import type { StorageKind } from '#adapters/storage/storage-kinds.ts';
import { parseItemPath } from '#core/item-path.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage.ts';
import type { S3Services } from './s3-storage.ts';

/** Parses a configuration, whose form was checked when it was stored. @throws StorageUnavailable if it was lost with the key that sealed it */
function parseS3Configuration(text: string): S3Configuration {
  const configuration: S3Configuration = JSON.parse(text);
  if (!configuration.bucket) throw new StorageUnavailable('the configuration of the location has no bucket');
  return configuration;
}

/**
 * Returns the kind `s3`: buckets of Amazon S3 and of services that speak its protocol. Locations of different tenants may overlap,
 * since each tenant names the credentials.
 */
export const s3Kind = (services: S3Services): StorageKind => ({
  open: cacheStorages(async ({ tid, configuration }) => {
    const { S3Storage } = await import('./s3-storage.ts'); // most installations have no such location
    return new S3Storage(parseS3Configuration(configuration), tid, services);
  }),
  async configurationError({ configuration }) {
    const { endpoint, prefix = '', bucket, pathStyle = false } = parseS3Configuration(configuration);
    if (endpoint !== undefined && (!URL.canParse(endpoint) || endpoint.includes('\\')))
      return 'endpoint must be the address of a server, such as https://s3.example.com';
    if (bucket.includes('.') && !pathStyle && !endpoint?.startsWith('http:'))
      return 'pathStyle must be true for a bucket with a dot in its name: the certificate of the service is not valid for such a host name';
    // A URL cannot hold the segments `.` and `..` of a key.
    return parseItemPath(`/${prefix}`) ? null : 'prefix must be a path, such as reports/2026';
  },
  async [Symbol.asyncDispose]() {},
});
