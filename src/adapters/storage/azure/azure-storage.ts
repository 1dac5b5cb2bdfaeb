import { encodeQuery } from '#adapters/storage/objects/encode-key.ts';
import { ObjectStorage, type ObjectStorageServices } from '#adapters/storage/objects/object-storage.ts';
import type { ObjectStore } from '#adapters/storage/objects/object-store.ts';
import type { UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { MemoryBudget } from '#core/memory-budget.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import { azureAddress } from './azure-address.ts';
import { AzureContainer } from './azure-container.ts';
import { azureCredentials } from './azure-credentials.ts';
import { AzureStore } from './azure-store.ts';
import type { MachineTokens } from './machine-token.ts';
import { downloadSignature } from './shared-key.ts';

export interface AzureServices extends ObjectStorageServices {
  /** Keeps the unfinished uploads to accounts with a hierarchical namespace. */
  readonly spool: UploadSpool;
  readonly outbound: Pick<Outbound, 'request'>;
  readonly memory: MemoryBudget;
  readonly machineTokens: Pick<MachineTokens, 'get'>;
  /** ms, monotonic. */
  readonly monotonic?: () => number;
}

export function openContainer(
  configuration: AzureConfiguration,
  tid: number,
  {
    outbound,
    machineTokens,
    monotonic = () => performance.now(),
    now = Date.now,
  }: Omit<AzureServices, 'lists' | 'memory' | 'parts' | 'spool'>,
): AzureContainer {
  const address = azureAddress(configuration);
  const services = { outbound, tid, monotonic, now };
  const authorize = azureCredentials(configuration, address, machineTokens);
  return new AzureContainer(address, authorize, services, configuration.hierarchicalNamespace);
}

/** Opens the storage of a location in a container of Azure Blob Storage. */
export function openAzureStorage(configuration: AzureConfiguration, tid: number, services: AzureServices): ObjectStorage {
  const { memory, monotonic = () => performance.now(), now = Date.now } = services;
  const container = openContainer(configuration, tid, services);
  const { accountKey } = configuration;
  // A SAS token in the address would give visitors all rights of the token. A token of the machine can sign only after a further request.
  const signAddress: ObjectStore['signAddress'] =
    accountKey === undefined
      ? null
      : async (key, headers, lifetime) => {
          const signature = downloadSignature(container.address, accountKey, key, headers, now() + lifetime * 1000);
          return `${container.urlOf(key)}?${encodeQuery(signature)}`;
        };
  return new ObjectStorage(
    new AzureStore(container, { memory: memory.of(tid), monotonic, sign: signAddress }),
    configuration.prefix,
    services,
  );
}
