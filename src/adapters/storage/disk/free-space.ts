import fs from 'node:fs';
import { failure } from './disk-errors.ts';
import { at } from './open-within-root.ts';

/** What uploads leave free on the file system of the database: a full one stops every change. */
export interface FreeSpaceFloor {
  /** Its number, as fstat tells it. */
  readonly device: number;
  readonly bytes: number;
}

/** @throws ENOSPC where so many more bytes would leave less than the floor */
type FreeSpaceCheck = (more: number) => Promise<void>;

/** Returns a check for uploads into an open folder. Other file systems than that of the database may be filled. */
export function freeSpaceCheck(folder: number, { device, bytes }: FreeSpaceFloor): FreeSpaceCheck {
  if (bytes === 0 || fs.fstatSync(folder).dev !== device) return async () => {};
  return async (more) => {
    const { bavail, bsize } = await fs.promises.statfs(at(folder));
    if (bavail * bsize - more < bytes) throw failure('ENOSPC');
  };
}
