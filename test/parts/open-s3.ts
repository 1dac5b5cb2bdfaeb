import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { PartSpace } from '#adapters/storage/part-space.ts';
import { MachineCredentials } from '#adapters/storage/s3/machine-credentials.ts';
import { S3Bucket } from '#adapters/storage/s3/s3-bucket.ts';
import { openS3Storage, type S3Services } from '#adapters/storage/s3/s3-storage.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';

/** Returns space for the parts of uploads. @param maxMemory bytes; default as in Postern */
export const partSpace = (maxMemory?: number) =>
  new PartSpace({ folder: tmpdir(), minFreeSpace: 0, ...(maxMemory === undefined ? {} : { maxMemory }) });

/** Returns a spool for uploads in parts. */
export const uploadSpool = (folder = join(tmpdir(), randomUUID()), maxBytes = 1 << 30) =>
  new UploadSpool({ folder, maxBytes, space: partSpace(), monotonic: () => performance.now() });

const keyOf = ({ accessKeyId = '', secretAccessKey = '' }: S3Configuration) => ({ accessKeyId, secretAccessKey });

/** Opens a bucket of tenant 1. */
export const openBucket = (configuration: S3Configuration, outbound: Pick<Outbound, 'request'>) =>
  new S3Bucket(configuration, 1, async () => keyOf(configuration), outbound, storageMemory().of(1));

/** Opens the storage of a bucket of tenant 1. @param services to use instead of the default ones */
export const openS3 = (configuration: S3Configuration, outbound: Pick<Outbound, 'request'>, services: Partial<S3Services> = {}) =>
  openS3Storage(configuration, 1, {
    outbound,
    parts: partSpace(),
    memory: storageMemory(),
    lists: new FolderListCache(),
    machineCredentials: new MachineCredentials(),
    ...services,
  });
