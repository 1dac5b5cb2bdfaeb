import { cacheStorages } from '#adapters/storage/storage-cache.ts';
import type { StorageKind } from '#adapters/storage/storage-kinds.ts';
import { parseItemPath } from '#core/item-path.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { AzureServices } from './azure-storage.ts';

/**
 * Parses a configuration, whose form was checked before.
 * @throws StorageUnavailable if it is `{}` (`lostConfiguration`), because the stored one could not be decrypted
 */
function parseAzureConfiguration(text: string): AzureConfiguration {
  const configuration: AzureConfiguration = JSON.parse(text);
  if (!configuration.container) throw new StorageUnavailable('the configuration of the location has no container');
  return configuration;
}

/** An endpoint of Azure, in its public and national clouds. */
const azureEndpoint =
  /^https:\/\/[a-z0-9]{3,24}\.(z\d+\.)?blob\.(core\.windows\.net|core\.chinacloudapi\.cn|core\.usgovcloudapi\.net|storage\.azure\.net)\/?$/;

/**
 * Returns what is wrong with the credentials of a configuration, or null. The identity of the machine may be used for Azure alone: other
 * services must not get its token.
 */
function credentialsErrorOf({ accountKey, sasToken, useMachineCredentials = false, endpoint }: AzureConfiguration, mayUseMachine: boolean) {
  const count = [accountKey !== undefined, sasToken !== undefined, useMachineCredentials].filter(Boolean).length;
  if (count !== 1) return 'exactly one of accountKey, sasToken and useMachineCredentials (true) is required';
  if (!useMachineCredentials) return null;
  if (!mayUseMachine) return 'useMachineCredentials must be allowed for the tenant by an operator, with POSTERN_MACHINE_CREDENTIALS';
  return endpoint === undefined || azureEndpoint.test(endpoint)
    ? null
    : 'endpoint must be an address of Azure, or be absent, if useMachineCredentials is true';
}

/**
 * Returns the kind `azure`: containers of Azure Blob Storage. Locations of different tenants may overlap, because each tenant enters
 * the credentials itself, or the server's operator allows it to use those of the machine (POSTERN_MACHINE_CREDENTIALS).
 * @param machineTenants ids of the tenants that may use the managed identity of this machine
 */
export const azureKind = (services: AzureServices, machineTenants: readonly number[]): StorageKind => ({
  open: cacheStorages(async ({ tid, configuration }) => {
    const parsed = parseAzureConfiguration(configuration);
    // Loaded only when needed: most installations have no such location.
    if (parsed.hierarchicalNamespace) return new (await import('./data-lake-storage.ts')).DataLakeStorage(parsed, tid, services);
    return (await import('./azure-storage.ts')).openAzureStorage(parsed, tid, services);
  }),
  async configurationError({ tid, configuration: text }) {
    const configuration = parseAzureConfiguration(text);
    const { account, endpoint, prefix = '' } = configuration;
    if (account === undefined && endpoint === undefined) return 'account or endpoint is required';
    if (endpoint !== undefined && (!URL.canParse(endpoint) || endpoint.includes('\\')))
      return 'endpoint must be the address of an account, such as https://acme.blob.core.windows.net';
    const credentialsError = credentialsErrorOf(configuration, machineTenants.includes(tid));
    if (credentialsError) return credentialsError;
    // A URL cannot hold the segments `.` and `..` of a key.
    return parseItemPath(`/${prefix}`) ? null : 'prefix must be a path, such as reports/2026';
  },
  async [Symbol.asyncDispose]() {},
});
