import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { StorageAway } from '#ports/storage.ts';
import { codeOf, isAbsent } from './disk-errors.ts';
import { putText } from './marks.ts';
import { mountOf, openFolder, type Root } from './open-within-root.ts';
import {
  type DirectoryEntry,
  openStagingArea,
  openStagingFolder,
  refused,
  siblingName,
  statEntry,
  unlinkIfPresent,
} from './staging-area.ts';

/** What a change keeps so that recovery can see, by its token, how far it came. */

/** Returns whether a folder is in another mount than the root: files cannot be linked or moved between mounts. */
const isMountedApart = (folder: number, root: Root) => mountOf(folder) !== root.mount;

const openIfPresent = (root: Root, path: readonly string[]) =>
  openFolder(root, path).catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    throw cause;
  });

/** Returns whether the folder is mounted apart; of one that is missing, whether the last folder above it that exists is. */
async function leadsToMount(root: Root, path: readonly string[]): Promise<boolean> {
  if (path.length === 0) return false;
  const folder = await openIfPresent(root, path);
  if (folder === null) return leadsToMount(root, path.slice(0, -1));
  try {
    return isMountedApart(folder, root);
  } finally {
    fs.closeSync(folder);
  }
}

/**
 * A note in `.postern/` that the evidence of a change lies in a mount: after a crash, recovery waits until that is mounted.
 * A root that is not writable has none.
 */
const noteEnding = '-mount';

/** Runs `work` on the entry of the note; null where there is no `.postern/` for it. */
async function atNote<T>(area: Promise<number>, token: string, work: (note: DirectoryEntry) => T): Promise<T | null> {
  let folder: number;
  try {
    folder = await area;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || refused.includes(codeOf(cause))) return null;
    throw cause;
  }
  try {
    return work({ folder, name: token + noteEnding });
  } finally {
    fs.closeSync(folder);
  }
}

/** Removes the note of a change, if there is one. @param evidence tells whether there may be one */
export async function dropMountNote(root: Root, token: string, evidence: DirectoryEntry): Promise<void> {
  if (evidence.name === siblingName(token)) await atNote(openStagingFolder(root), token, unlinkIfPresent);
}

async function requireMount(root: Root, parent: ItemPath, token: string): Promise<void> {
  const isNoted = await atNote(openStagingFolder(root), token, (note) => statEntry(note) !== undefined);
  if (isNoted && !(await leadsToMount(root, parent))) throw new StorageAway('a file system in the folder of the location is not mounted');
}

/**
 * Returns the entry, named by the token, where a change keeps its evidence: in `.postern/`, or in the changed folder if
 * that is mounted apart or `.postern/` cannot be made. The caller closes the folder of the entry.
 */
export async function evidenceEntry(root: Root, parent: ItemPath, token: string): Promise<DirectoryEntry> {
  const folder = await openFolder(root, parent);
  const beside = { folder, name: siblingName(token) };
  try {
    if (isMountedApart(folder, root)) {
      await atNote(openStagingArea(root), token, (note) => putText(note, 'mount'));
      return beside;
    }
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

/**
 * The same for a change that is recovered: creates nothing, and needs no parent.
 * @returns null if there is no such place
 * @throws StorageAway if that place is in a mount that is missing
 */
async function remainingEvidence(root: Root, parent: ItemPath, token: string): Promise<DirectoryEntry | null> {
  await requireMount(root, parent, token);
  const folder = await openIfPresent(root, parent);
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
