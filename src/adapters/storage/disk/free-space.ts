import fs from 'node:fs';
import { errorWithCode } from './disk-errors.ts';
import { descriptorPath } from './open-within-root.ts';

/** Free space that uploads must leave on the file system of the database: if that is full, every change fails. */
export interface FreeSpaceFloor {
  /** Device number of the file system, as `fstat` returns it in `dev`. */
  readonly device: number;
  readonly bytes: number;
}

/** Returns the bytes that uploads into an open folder must leave free: none if it is not on the file system of the database. */
export const floorOf = (folder: number, { device, bytes }: FreeSpaceFloor): number =>
  bytes === 0 || fs.fstatSync(folder).dev !== device ? 0 : bytes;

/** Checks the free space before a write. @param floor bytes that must stay free @throws ENOSPC if `additionalBytes` would leave less */
export function checkFreeSpace(folder: number, floor: number, additionalBytes: number): void {
  if (floor === 0) return;
  const { bavail, bsize } = fs.statfsSync(descriptorPath(folder));
  if (bavail * bsize - additionalBytes < floor) throw errorWithCode('ENOSPC');
}
