import { tmpdir } from 'node:os';
import { PartSpace } from '#adapters/storage/part-space.ts';
import { type S3Services, S3Storage } from '#adapters/storage/s3/s3-storage.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';

/** Returns space for the parts of uploads. @param maxMemory bytes; default as in Postern */
export const partSpace = (maxMemory?: number) =>
  new PartSpace({ folder: tmpdir(), minFreeSpace: 0, ...(maxMemory === undefined ? {} : { maxMemory }) });

/** Opens the storage of a bucket. @param times replace those of the system */
export const openS3 = (
  configuration: S3Configuration,
  outbound: Pick<Outbound, 'request'>,
  times: Pick<S3Services, 'monotonic' | 'now'> = {},
) => new S3Storage(configuration, { outbound, parts: partSpace(), ...times });
