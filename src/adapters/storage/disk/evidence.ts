import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { accessDeniedCodes, isAbsentError, systemErrorCode } from './disk-errors.ts';
import { writeNote } from './marks.ts';
import { mountOf, openFolder, type StorageRoot } from './open-within-root.ts';
import { type DirectoryEntry, openStagingArea, openStagingFolder, siblingName, statEntry, unlinkIfPresent } from './staging-area.ts';

// Evidence is what a change leaves on disk so that recovery can see how far it got. Its name contains the token of the change.

/** Returns whether an open folder is in a different mount than the root. Files cannot be linked or moved between mounts. */
const isInOtherMount = (folder: number, path: readonly string[], root: StorageRoot) => path.length > 0 && mountOf(folder) !== root.mount;

function openIfPresent(root: StorageRoot, path: readonly string[]): number | null {
  try {
    return openFolder(root, path);
  } catch (cause) {
    if (isAbsentError(cause)) return null;
    throw cause;
  }
}

/** Returns whether a folder is in a different mount than the root. If it is missing, checks the nearest existing folder above it. */
function leadsToOtherMount(root: StorageRoot, path: readonly string[]): boolean {
  if (path.length === 0) return false;
  const folder = openIfPresent(root, path);
  if (folder === null) return leadsToOtherMount(root, path.slice(0, -1));
  try {
    return isInOtherMount(folder, path, root);
  } finally {
    fs.closeSync(folder);
  }
}

/**
 * Suffix of a mount note: a file in `.postern/` which says that the evidence of a change is in another mount. Recovery
 * waits until the mount is there. If `.postern/` cannot be created, there are no notes.
 */
const noteSuffix = '-mount';

/**
 * Runs `work` on the mount note of a change.
 * @param open returns the descriptor of `.postern/`, which is closed at the end
 * @returns null if `.postern/` does not exist or cannot be created
 */
function withMountNote<T>(open: () => number, token: string, work: (note: DirectoryEntry) => T): T | null {
  let folder: number;
  try {
    folder = open();
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT' || accessDeniedCodes.includes(systemErrorCode(cause))) return null;
    throw cause;
  }
  try {
    return work({ folder, name: token + noteSuffix });
  } finally {
    fs.closeSync(folder);
  }
}

/**
 * Deletes the mount note of a change, if there is one.
 * @param evidence entry of the change; only an entry in the changed folder has a note
 */
export function deleteMountNote(root: StorageRoot, token: string, evidence: DirectoryEntry): void {
  if (evidence.name === siblingName(token)) withMountNote(() => openStagingFolder(root), token, unlinkIfPresent);
}

/**
 * Checks that the mount of a changed folder is not missing.
 * @throws StorageUnavailable if the change has a mount note, but its folder is not in another mount now
 */
function requireMount(root: StorageRoot, parent: ItemPath, token: string): void {
  const hasNote = withMountNote(
    () => openStagingFolder(root),
    token,
    (note) => statEntry(note) !== undefined,
  );
  if (hasNote && !leadsToOtherMount(root, parent))
    throw new StorageUnavailable('a file system in the folder of the location is not mounted');
}

/**
 * Returns the entry where a change keeps its evidence, named by its token. It is in `.postern/`, or in the changed folder if that
 * is in another mount or `.postern/` cannot be created. The caller must close the folder of the entry.
 */
export function evidenceEntry(root: StorageRoot, parent: ItemPath, token: string): DirectoryEntry {
  const folder = openFolder(root, parent);
  const sibling = { folder, name: siblingName(token) };
  try {
    if (isInOtherMount(folder, parent, root)) {
      withMountNote(
        () => openStagingArea(root),
        token,
        // A change whose confirmation has expired runs again, and finds its note.
        (note) => statEntry(note) ?? writeNote(note, 'mount'),
      );
      return sibling;
    }
    const area = openStagingArea(root);
    fs.closeSync(folder);
    return { folder: area, name: token };
  } catch (cause) {
    if (accessDeniedCodes.includes(systemErrorCode(cause))) return sibling;
    fs.closeSync(folder);
    throw cause;
  }
}

function openStagingIfPresent(root: StorageRoot): number | null {
  try {
    return openStagingFolder(root);
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null;
    throw cause;
  }
}

/** Returns whether `.postern/` exists. */
export function hasStagingArea(root: StorageRoot): boolean {
  const area = openStagingIfPresent(root);
  if (area !== null) fs.closeSync(area);
  return area !== null;
}

/**
 * Returns the evidence entry (see `evidenceEntry`) of a change that began earlier. Creates nothing.
 * The parent may be missing. The caller must close the folder of the entry.
 * @returns null if neither `.postern/` nor the parent exists
 * @throws StorageUnavailable if the entry is in a mount that is missing; StorageUnusable
 */
export function remainingEvidence(root: StorageRoot, parent: ItemPath, token: string): DirectoryEntry | null {
  requireMount(root, parent, token);
  const folder = openIfPresent(root, parent);
  let area: number | null;
  try {
    area = folder !== null && isInOtherMount(folder, parent, root) ? null : openStagingIfPresent(root);
  } catch (cause) {
    if (folder !== null) fs.closeSync(folder);
    throw cause;
  }
  if (area === null) return folder === null ? null : { folder, name: siblingName(token) };
  if (folder !== null) fs.closeSync(folder);
  return { folder: area, name: token };
}

function runAndClose<T>(entry: DirectoryEntry, work: (entry: DirectoryEntry) => T): T {
  try {
    return work(entry);
  } finally {
    fs.closeSync(entry.folder);
  }
}

/** Runs `work` on the evidence of a change, and closes its folder. */
export const withEvidence = <T>(root: StorageRoot, parent: ItemPath, token: string, work: (entry: DirectoryEntry) => T): T =>
  runAndClose(evidenceEntry(root, parent, token), work);

/** Runs `work` on the evidence of a change that began earlier, and closes its folder. Returns null if `remainingEvidence` does. */
export function withRemainingEvidence<T>(root: StorageRoot, parent: ItemPath, token: string, work: (entry: DirectoryEntry) => T): T | null {
  const entry = remainingEvidence(root, parent, token);
  return entry && runAndClose(entry, work);
}
