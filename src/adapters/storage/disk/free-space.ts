import fs from 'node:fs';
import { errorWithCode } from './disk-errors.ts';
import { descriptorPath } from './open-within-root.ts';

/** Free space that uploads must leave on the file system of the database: if that is full, every change fails. */
export interface FreeSpaceFloor {
  /** Device number of the file system, as `fstat` returns it in `dev`. */
  readonly device: number;
  readonly bytes: number;
}

/** @throws ENOSPC if `additionalBytes` would leave less than the floor */
type FreeSpaceCheck = (additionalBytes: number) => Promise<void>;

/** Returns a check for uploads into an open folder. Uploads may fill file systems other than that of the database. */
export function freeSpaceCheck(folder: number, { device, bytes }: FreeSpaceFloor): FreeSpaceCheck {
  if (bytes === 0 || fs.fstatSync(folder).dev !== device) return async () => {};
  return async (additionalBytes) => {
    const { bavail, bsize } = await fs.promises.statfs(descriptorPath(folder));
    if (bavail * bsize - additionalBytes < bytes) throw errorWithCode('ENOSPC');
  };
}
