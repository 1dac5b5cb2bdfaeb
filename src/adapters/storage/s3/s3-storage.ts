import { randomUUID } from 'node:crypto';
import { ObjectKeys } from '#adapters/storage/objects/object-folders.ts';
import { ObjectStorage, type ObjectStorageServices } from '#adapters/storage/objects/object-storage.ts';
import type { MemoryBudget } from '#core/memory-budget.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { AccessKey, MachineCredentials } from './machine-credentials.ts';
import { S3Bucket } from './s3-bucket.ts';
import { S3Store } from './s3-store.ts';

export interface S3Services extends ObjectStorageServices {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly memory: MemoryBudget;
  readonly machineCredentials: Pick<MachineCredentials, 'get'>;
  /** Returns a monotonic time in ms. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

/**
 * Returns a function that returns the access key of a location. The function throws StorageUnavailable if the configuration has none, or
 * if the machine has no role or its metadata service does not respond.
 */
function accessKeyOf(configuration: S3Configuration, machine: Pick<MachineCredentials, 'get'>): () => Promise<AccessKey> {
  const { useMachineCredentials = false, accessKeyId, secretAccessKey, sessionToken } = configuration;
  if (useMachineCredentials) return () => machine.get();
  return async () => {
    if (accessKeyId === undefined || secretAccessKey === undefined) throw new StorageUnavailable('the configuration has no access key');
    return { accessKeyId, secretAccessKey, sessionToken };
  };
}

/** Opens the storage of a location in a bucket of an S3 service. */
export function openS3Storage(configuration: S3Configuration, tid: number, services: S3Services): ObjectStorage {
  const { outbound, memory, machineCredentials, monotonic } = services;
  const bucket = new S3Bucket(configuration, tid, accessKeyOf(configuration, machineCredentials), outbound, memory.of(tid), monotonic);
  const keys = new ObjectKeys(configuration.prefix);
  const store = new S3Store(bucket, () => keys.staging(`${randomUUID()}.test`));
  return new ObjectStorage(store, configuration.prefix, services);
}
