import fs from 'node:fs';
import { StorageAway } from '#ports/storage.ts';
import { at, openFolder, type Root } from './beneath.ts';
import { codeOf } from './disk-errors.ts';

/** A name in an open folder. */
export interface DirectoryEntry {
  readonly folder: number;
  readonly name: string;
}

/** Returns a path to the entry that follows no symbolic link. */
export const where = ({ folder, name }: DirectoryEntry) => at(folder, name);

/** Returns what lies there, or undefined. */
export const statEntry = (entry: DirectoryEntry) => fs.lstatSync(where(entry), { bigint: true, throwIfNoEntry: false });

/** Returns the entry with a longer name. */
export const named = ({ folder, name }: DirectoryEntry, ending: string): DirectoryEntry => ({ folder, name: name + ending });

/** Deletes a file if it exists. */
export function unlinkIfPresent(entry: DirectoryEntry): void {
  try {
    fs.unlinkSync(where(entry));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
  }
}

/** The folder at the location's root that visitors never see. */
export const stagingFolder = '.postern';
/** Name of what a change keeps beside its place where it cannot keep it in `.postern/`. */
export const siblingName = (token: string) => `.postern-${token}`;

const notFolder = ['ENOTDIR', 'ELOOP'];

/** Opens `.postern/`. @throws ENOENT, StorageAway */
export const openStagingFolder = (root: Root) =>
  openFolder(root, [stagingFolder]).catch((cause: unknown) => {
    if (!notFolder.includes(codeOf(cause))) throw cause;
    throw new StorageAway(`${stagingFolder} in the location's folder is not a folder`, { cause });
  });

/** Opens `.postern/`, which it creates if necessary. */
export async function openStagingArea(root: Root): Promise<number> {
  try {
    fs.mkdirSync(at(root.descriptor, stagingFolder), 0o700);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
  return openStagingFolder(root);
}
