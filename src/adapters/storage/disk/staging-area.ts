import fs from 'node:fs';
import { StorageRefused } from '#ports/storage.ts';
import { codeOf } from './disk-errors.ts';
import { at, openFolder, type Root } from './open-within-root.ts';

/** A name in an open folder. */
export interface DirectoryEntry {
  readonly folder: number;
  readonly name: string;
}

/** Returns a path to the entry that follows no symbolic link. */
export const pathOf = ({ folder, name }: DirectoryEntry) => at(folder, name);

/** Returns what lies there, or undefined. */
export const statEntry = (entry: DirectoryEntry) => fs.lstatSync(pathOf(entry), { bigint: true, throwIfNoEntry: false });

/** Returns the entry with a longer name. */
export const withSuffix = ({ folder, name }: DirectoryEntry, ending: string): DirectoryEntry => ({ folder, name: name + ending });

/** Deletes a file if it exists. */
export function unlinkIfPresent(entry: DirectoryEntry): void {
  try {
    fs.unlinkSync(pathOf(entry));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
  }
}

/** The folder at the location's root that visitors never see. */
export const stagingFolder = '.postern';
/** Name of what a change keeps beside its place where it cannot keep it in `.postern/`. */
export const siblingName = (token: string) => `.postern-${token}`;

/** Codes of a folder that may not be entered or written. */
export const refused: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];
const notFolder = ['ENOTDIR', 'ELOOP'];

/**
 * Opens `.postern/`. Where it exists, no change keeps its evidence elsewhere: recovery would not find it.
 * @throws ENOENT, StorageRefused
 */
export const openStagingFolder = (root: Root) =>
  openFolder(root, [stagingFolder]).catch((cause: unknown) => {
    const code = codeOf(cause);
    if (notFolder.includes(code)) throw new StorageRefused(`${stagingFolder} in the location's folder is not a folder`, { cause });
    if (refused.includes(code))
      throw new StorageRefused(`${stagingFolder} in the location's folder must belong to the user that runs Postern`, { cause });
    throw cause;
  });

/** Opens `.postern/`, which it creates if necessary. */
export async function openStagingArea(root: Root): Promise<number> {
  try {
    return await openStagingFolder(root);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
  }
  try {
    fs.mkdirSync(at(root.descriptor, stagingFolder), 0o700);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
  return openStagingFolder(root);
}
