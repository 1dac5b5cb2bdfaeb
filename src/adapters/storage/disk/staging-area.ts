import fs from 'node:fs';
import { StorageUnusable } from '#ports/storage-errors.ts';
import { accessDeniedCodes, systemErrorCode } from './disk-errors.ts';
import { descriptorPath, openFolder, type StorageRoot } from './open-within-root.ts';

/** A name in an open folder. */
export interface DirectoryEntry {
  readonly folder: number;
  readonly name: string;
}

/** Returns a path to the entry in its open folder, even if the folder was renamed. The entry itself may be a symbolic link. */
export const entryPath = ({ folder, name }: DirectoryEntry) => descriptorPath(folder, name);

/** Returns the stat of the entry itself, not of a link's target, or undefined if it does not exist. */
export const statEntry = (entry: DirectoryEntry) => fs.lstatSync(entryPath(entry), { bigint: true, throwIfNoEntry: false });

/** Returns a text that identifies a file or folder on this machine, whatever its name. */
export const identityOf = ({ dev, ino }: Pick<fs.BigIntStats, 'dev' | 'ino'>) => `${dev}:${ino}`;

/** Returns an entry in the same folder whose name has a suffix. */
export const withSuffix = ({ folder, name }: DirectoryEntry, suffix: string): DirectoryEntry => ({ folder, name: name + suffix });

export function unlinkIfPresent(entry: DirectoryEntry): void {
  try {
    fs.unlinkSync(entryPath(entry));
  } catch (cause) {
    const code = systemErrorCode(cause);
    // In a read-only file system, even the deletion of a name that does not exist is refused.
    if (code === 'ENOENT' || (accessDeniedCodes.includes(code) && !statEntry(entry))) return;
    throw cause;
  }
}

/** Name of the staging area, a folder in the location's root. Visitors never see it. */
export const stagingFolder = '.postern';
/** Returns the name of a change's evidence in the changed folder, for a change that cannot use `.postern/`. */
export const siblingName = (token: string) => `.postern-${token}`;

const notFolderCodes = ['ENOTDIR', 'ELOOP'];

/**
 * Opens `.postern/`. If it exists but cannot be used, the change fails: recovery would not find evidence in another place.
 * @throws ENOENT if it does not exist
 * @throws StorageUnusable if it is not a folder, or the process may not open it
 */
export function openStagingFolder(root: StorageRoot): number {
  try {
    return openFolder(root, [stagingFolder]);
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (notFolderCodes.includes(code)) throw new StorageUnusable(`${stagingFolder} in the location's folder is not a folder`, { cause });
    if (accessDeniedCodes.includes(code))
      throw new StorageUnusable(`${stagingFolder} in the location's folder must be owned by the user that runs Postern`, { cause });
    throw cause;
  }
}

/** Opens `.postern/`, and creates it if necessary. */
export function openStagingArea(root: StorageRoot): number {
  try {
    return openStagingFolder(root);
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ENOENT') throw cause;
  }
  try {
    fs.mkdirSync(descriptorPath(root.descriptor, stagingFolder), 0o700);
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EEXIST') throw cause;
  }
  return openStagingFolder(root);
}
