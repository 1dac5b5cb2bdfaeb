import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { StorageAway } from '#ports/storage.ts';
import { at, openFolder, type Root } from './beneath.ts';
import { codeOf, isAbsent } from './disk-errors.ts';

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
const refused = ['EACCES', 'EPERM', 'EROFS'];

const openStagingFolder = (root: Root) =>
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

/** Returns whether a folder is in another mount than the root: files cannot be linked or moved between mounts. */
function isMountedApart(folder: number, { descriptor }: Root): boolean {
  const mountOf = (of: number) => /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${of}`, 'utf8'))?.[1];
  return fs.fstatSync(folder).dev !== fs.fstatSync(descriptor).dev || mountOf(folder) !== mountOf(descriptor);
}

/**
 * Returns the entry, named by the token, where a change keeps its evidence: in `.postern/`, or in the changed folder if
 * that is mounted apart or the root is not writable. The caller closes the folder of the entry.
 */
export async function evidenceEntry(root: Root, parent: ItemPath, token: string): Promise<DirectoryEntry> {
  const folder = await openFolder(root, parent);
  const beside = { folder, name: siblingName(token) };
  if (isMountedApart(folder, root)) return beside;
  try {
    const area = await openStagingArea(root);
    fs.closeSync(folder);
    return { folder: area, name: token };
  } catch (cause) {
    if (refused.includes(codeOf(cause))) return beside;
    fs.closeSync(folder);
    throw cause;
  }
}

const nullIfGone = (cause: unknown) => {
  if (codeOf(cause) === 'ENOENT') return null;
  throw cause;
};

/** The same for a change that is recovered: creates nothing, and needs no parent. @returns null if there is no such place */
async function remainingEvidence(root: Root, parent: ItemPath, token: string): Promise<DirectoryEntry | null> {
  const folder = await openFolder(root, parent).catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    throw cause;
  });
  const beside = folder === null ? null : { folder, name: siblingName(token) };
  if (folder !== null && isMountedApart(folder, root)) return beside;
  const area = await openStagingFolder(root).catch(nullIfGone);
  if (area === null) return beside;
  if (folder !== null) fs.closeSync(folder);
  return { folder: area, name: token };
}

async function closing<T>(entry: DirectoryEntry, work: (entry: DirectoryEntry) => Promise<T> | T): Promise<T> {
  try {
    return await work(entry);
  } finally {
    fs.closeSync(entry.folder);
  }
}

/** Runs `work` on the evidence of a token, and closes its folder. */
export const withEvidence = async <T>(
  root: Root,
  parent: ItemPath,
  token: string,
  work: (entry: DirectoryEntry) => Promise<T> | T,
): Promise<T> => closing(await evidenceEntry(root, parent, token), work);

/** The same for a change that is recovered; null where it left nothing. */
export async function withRemainingEvidence<T>(
  root: Root,
  parent: ItemPath,
  token: string,
  work: (entry: DirectoryEntry) => Promise<T> | T,
): Promise<T | null> {
  const entry = await remainingEvidence(root, parent, token);
  return entry && closing(entry, work);
}
