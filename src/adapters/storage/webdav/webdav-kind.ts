import { cacheStorages } from '#adapters/storage/storage-cache.ts';
import type { StorageKind } from '#adapters/storage/storage-kinds.ts';
import { parseItemPath } from '#core/item-path.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { WebdavServices } from './webdav-storage.ts';

/**
 * Parses a configuration, whose form was checked before.
 * @throws StorageUnavailable if it is empty, because it was lost or could not be decrypted (`lostConfiguration`)
 */
function parseWebdavConfiguration(text: string): WebdavConfiguration {
  const configuration: WebdavConfiguration = JSON.parse(text);
  if (!configuration.url) throw new StorageUnavailable('the configuration of the location has no address');
  return configuration;
}

/** Returns what is wrong with a configuration, or null. */
function errorOf({ url, root = '', username, password, bearerToken }: WebdavConfiguration): string | null {
  if (!URL.canParse(url) || url.includes('\\')) return 'url must be the address of a server, such as https://files.example.com/dav';
  if ((username === undefined) !== (password === undefined)) return 'username and password must be given together';
  if (username !== undefined && bearerToken !== undefined) return 'bearerToken cannot be combined with username and password';
  // A URL cannot hold the segments `.` and `..`.
  return parseItemPath(`/${root}`) ? null : 'root must be a path, such as reports/2026';
}

/**
 * Returns the kind `webdav`: folders at WebDAV servers. Locations of different tenants may overlap, because each tenant enters the
 * credentials itself.
 */
export const webdavKind = (services: WebdavServices): StorageKind => ({
  open: cacheStorages(async ({ tid, configuration }) => {
    const { WebdavStorage } = await import('./webdav-storage.ts'); // most installations have no such location
    return new WebdavStorage(parseWebdavConfiguration(configuration), tid, services);
  }),
  configurationError: async ({ configuration }) => errorOf(parseWebdavConfiguration(configuration)),
  sweep: (findTokensInUse, signal) => services.spool.sweep(findTokensInUse, signal),
  async [Symbol.asyncDispose]() {},
});
