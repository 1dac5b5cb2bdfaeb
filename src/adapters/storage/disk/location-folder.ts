import fs from 'node:fs';
import { dirname } from 'node:path';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { openRoot, type StorageRoot } from './open-within-root.ts';

/** The folder of a location, as its configuration names it. */
export interface FolderPath {
  readonly path: string;
  /** true: used only while a file system is mounted there. Files uploaded before the mount would be hidden after it. */
  readonly mountPoint: boolean;
}

const notMountedError = () => new StorageUnavailable('nothing is mounted at the folder of the location');

/** Returns whether a folder is on another file system than its parent folder. @param realPath its path with all symbolic links resolved */
const isMountPoint = (realPath: string) => fs.statSync(realPath).dev !== fs.statSync(dirname(realPath)).dev;

function checkPresent({ path, mountPoint }: FolderPath): void {
  const realPath = fs.realpathSync.native(path);
  if (!fs.statSync(realPath).isDirectory()) throw new StorageUnavailable('the path of the location is not a folder');
  if (mountPoint && !isMountPoint(realPath)) throw notMountedError();
}

function openPresent({ path, mountPoint }: FolderPath): StorageRoot {
  const root = openRoot(path);
  if (!mountPoint || isMountPoint(root.path)) return root;
  fs.closeSync(root.descriptor);
  throw notMountedError();
}

/** Returns a path with all symbolic links resolved, or null if it does not exist or cannot be read. */
export function resolveLinks(path: string): string | null {
  try {
    return fs.realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Runs work on the folder of a location. @throws StorageUnavailable in place of every other error */
function orUnavailable<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof StorageUnavailable
      ? cause
      : new StorageUnavailable('the folder of the location is missing or cannot be read', { cause });
  }
}

/** Checks the folder of a location. @throws StorageUnavailable if it cannot be used */
export const checkLocationFolder = (folder: FolderPath): void => orUnavailable(() => checkPresent(folder));

/** Opens the folder of a location. @throws StorageUnavailable if it cannot be used */
export const openFolderRoot = (folder: FolderPath): StorageRoot => orUnavailable(() => openPresent(folder));
