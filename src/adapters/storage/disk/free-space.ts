import fs from 'node:fs';
import { errorWithCode } from './disk-errors.ts';
import { descriptorPath } from './open-within-root.ts';

/** Free space that uploads must leave on the file system of the database: if that is full, every change fails. */
export interface FreeSpaceFloor {
  /** Device number of the file system, as `fstat` returns it in `dev`. */
  readonly device: number;
  readonly bytes: number;
}

/** Returns the bytes that uploads into an open folder must leave free: 0 if the folder is not on the file system of the database. */
export const floorOf = (folder: number, { device, bytes }: FreeSpaceFloor): number =>
  bytes === 0 || fs.fstatSync(folder).dev !== device ? 0 : bytes;

/** A file or chunk of at most this size (bytes) is written without a check if the floor is 0: the write itself fails soon enough. */
const maxUnchecked = 1 << 20;

/**
 * Checks the free space before a write.
 * @param floor bytes that must stay free
 * @param additionalBytes bytes of the chunk to write; before the first chunk of a request, all bytes that the upload still needs, or 0 if
 *   unknown
 * @throws ENOSPC if the additional bytes would leave less free than the floor
 */
export function checkFreeSpace(folder: number, floor: number, additionalBytes: number): void {
  if (floor === 0 && additionalBytes <= maxUnchecked) return;
  const { bavail, bsize, blocks } = fs.statfsSync(descriptorPath(folder));
  const isKnown = floor > 0 || blocks > 0; // some network file systems report no sizes at all
  if (isKnown && bavail * bsize - additionalBytes < floor) throw errorWithCode('ENOSPC');
}
