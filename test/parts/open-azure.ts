import { type AzureServices, openAzureStorage, openContainer } from '#adapters/storage/azure/azure-storage.ts';
import { MachineTokens } from '#adapters/storage/azure/machine-token.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import { partSpace, uploadSpool } from './open-s3.ts';

/** Returns the services that storages in Azure need. */
export const azureServices = (outbound: Pick<Outbound, 'request'>) => ({
  outbound,
  parts: partSpace(),
  spool: uploadSpool(),
  memory: storageMemory(),
  lists: new FolderListCache(),
  machineTokens: new MachineTokens(),
});

/** Opens a container for tenant 1. */
export const openTestContainer = (configuration: AzureConfiguration, outbound: Pick<Outbound, 'request'>) =>
  openContainer(configuration, 1, azureServices(outbound));

export const createContainer = (configuration: AzureConfiguration, outbound: Pick<Outbound, 'request'>) =>
  openTestContainer(configuration, outbound).sendAndRead('PUT', '', { query: { restype: 'container' } });

/** Opens the storage of a container for tenant 1. @param over services to use instead of the default ones */
export const openAzure = (configuration: AzureConfiguration, outbound: Pick<Outbound, 'request'>, over: Partial<AzureServices> = {}) =>
  openAzureStorage(configuration, 1, { ...azureServices(outbound), ...over });
