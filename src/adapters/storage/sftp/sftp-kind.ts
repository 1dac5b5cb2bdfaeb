import { cacheStorages } from '#adapters/storage/storage-cache.ts';
import type { StorageKind } from '#adapters/storage/storage-kinds.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { parseItemPath } from '#core/item-path.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { parseHostKey } from './host-key.ts';
import { KeyUnusable, PrivateKeys } from './private-key.ts';
import type { SftpSession } from './sftp-session.ts';
import type { SftpStorageServices } from './sftp-storage.ts';

/** Parses a configuration in the right form. @throws StorageUnavailable if the configuration is `{}`, because it could not be decrypted */
function parseSftpConfiguration(text: string): SftpConfiguration {
  const configuration: SftpConfiguration = JSON.parse(text);
  if (!configuration.host) throw new StorageUnavailable('the configuration of the location has no address');
  return configuration;
}

/** Returns what is wrong with the members of a configuration, or null. */
function memberError({ hostKey, root, password, privateKey, passphrase }: SftpConfiguration): string | null {
  if ((password === undefined) === (privateKey === undefined)) return 'exactly one of password and privateKey is required';
  if (passphrase !== undefined && privateKey === undefined) return 'passphrase is allowed only together with privateKey';
  if (!parseHostKey(hostKey)) return 'hostKey must be the public key of the server as in a .pub file, such as "ssh-ed25519 AAAA…"';
  return root === '/' || parseItemPath(root.replace(/\/$/, '')) ? null : 'root must be an absolute path, such as /srv/files';
}

const maxReadAhead = 64 << 20; // bytes for all files that are being read

/**
 * Returns the kind `sftp`: folders on SFTP servers. Locations of different tenants may overlap, because each tenant enters the
 * credentials itself.
 */
export function sftpKind(services: Omit<SftpStorageServices, 'keys' | 'sessions' | 'readAhead'>): StorageKind {
  const keys = new PrivateKeys();
  const readAhead = storageMemory(maxReadAhead);
  const sessions = new Set<SftpSession>();
  return {
    open: cacheStorages(async ({ tid, configuration }) => {
      const { SftpStorage } = await import('./sftp-storage.ts'); // most installations have no such location
      return new SftpStorage(parseSftpConfiguration(configuration), tid, { ...services, keys, sessions, readAhead });
    }),
    async configurationError({ tid, configuration: text }) {
      const configuration = parseSftpConfiguration(text);
      const error = memberError(configuration);
      if (error !== null || configuration.privateKey === undefined) return error;
      return keys.read(configuration, tid).then(
        () => null,
        (cause: unknown) => {
          if (cause instanceof KeyUnusable) return `privateKey ${cause.message}`;
          throw cause;
        },
      );
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.close();
    },
  };
}
