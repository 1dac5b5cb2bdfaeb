import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { ItemExists, StorageUnavailable } from '#ports/storage-errors.ts';
import { errorWithCode, systemErrorCode, toStorageError } from './disk-errors.ts';
import { deleteMountNote, evidenceEntry, hasStagingArea, remainingEvidence } from './evidence.ts';
import { checkFreeSpace, type FreeSpaceFloor, floorOf } from './free-space.ts';
import { type ModeAndGroup, setModeAndGroup } from './mode-and-group.ts';
import { createFile, openCreatedFile, openFolder, type StorageRoot } from './open-within-root.ts';
import { clearStaging, deleteNameNote, placeFile, replaceFile } from './place-file.ts';
import type { DirectoryEntry } from './staging-area.ts';

const stagingMode = 0o600;

/** A file in the staging area that receives an upload. */
export interface StagedUpload {
  readonly file: number;
  readonly staging: DirectoryEntry;
  /** Names the staging file. */
  readonly token: string;
  /** Bytes that must stay free on the file system. */
  readonly floor: number;
  /** Whether the name of the file must be synced with the first bytes: a crash that loses the name also loses the bytes. */
  readonly mustSyncName: boolean;
}

/**
 * Creates and opens a staging file.
 * @param size bytes to receive; null: unknown
 * @throws ENOSPC if these bytes would leave less free space than the floor
 */
export function openStagedUpload(
  root: StorageRoot,
  { parent, token, size }: { readonly parent: ItemPath; readonly token: string; readonly size: number | null },
  freeSpace: FreeSpaceFloor,
): StagedUpload {
  const staging = evidenceEntry(root, parent, token);
  try {
    const floor = floorOf(staging.folder, freeSpace);
    checkFreeSpace(staging.folder, floor, size ?? 0);
    return { file: createFile(staging.folder, staging.name, 0o666), staging, token, floor, mustSyncName: false };
  } catch (cause) {
    try {
      deleteMountNote(root, token, staging); // nobody else would: there is no upload to discard
    } finally {
      fs.closeSync(staging.folder);
    }
    throw cause;
  }
}

/** Opens a staging file again. @throws ENOENT if the file is gone or shorter than `offset` */
function reopenStagingFile(
  staging: DirectoryEntry | null,
  { token, offset, size }: { readonly token: string; readonly offset: number; readonly size: number | null },
  freeSpace: FreeSpaceFloor,
): StagedUpload {
  if (!staging) throw errorWithCode('ENOENT');
  try {
    const floor = floorOf(staging.folder, freeSpace);
    checkFreeSpace(staging.folder, floor, Math.max(0, (size ?? offset) - offset));
    const file = openCreatedFile(staging.folder, staging.name);
    try {
      if (fs.fstatSync(file).size < offset) throw errorWithCode('ENOENT');
      deleteNameNote(staging); // left by an earlier attempt to put the file in place
      return { file, staging, token, floor, mustSyncName: offset === 0 };
    } catch (cause) {
      fs.closeSync(file);
      throw cause;
    }
  } catch (cause) {
    fs.closeSync(staging.folder);
    throw cause;
  }
}

/**
 * Opens the staging file of an upload that continues.
 * @param upload `offset`: bytes that the file must have; `size`: bytes of the complete file, or null if not known
 * @throws ENOENT if it is gone or shorter than `offset`; ENOSPC if the rest would leave less free space than the floor;
 *   StorageUnavailable if it is gone and `.postern/` is missing, too, or if the mount of its folder is missing
 */
export function reopenStagedUpload(
  root: StorageRoot,
  {
    parent,
    token,
    offset,
    size,
  }: { readonly parent: ItemPath; readonly token: string; readonly offset: number; readonly size: number | null },
  freeSpace: FreeSpaceFloor,
): StagedUpload {
  try {
    return reopenStagingFile(remainingEvidence(root, parent, token), { token, offset, size }, freeSpace);
  } catch (cause) {
    // The root may be an empty folder because the location's file system is not mounted there now.
    if (systemErrorCode(cause) === 'ENOENT' && !hasStagingArea(root)) throw new StorageUnavailable('the folder .postern is missing');
    throw cause;
  }
}

export function syncStaged({ file, staging, mustSyncName }: StagedUpload): void {
  fs.fsyncSync(file);
  if (mustSyncName) fs.fsyncSync(staging.folder);
}

export function writeStaged({ file, staging, floor }: StagedUpload, bytes: Uint8Array, position: number): void {
  checkFreeSpace(staging.folder, floor, bytes.length);
  for (let written = 0; written < bytes.length; ) {
    const count = fs.writeSync(file, bytes, written, bytes.length - written, position + written);
    if (count === 0) throw errorWithCode('ENOSPC');
    written += count;
  }
}

/** How a staged upload gets its name. */
export interface Placing {
  readonly parent: ItemPath;
  /** Names to try, in this order. */
  readonly names: readonly string[];
  /** Validator of the file to replace; null: the name must be free. */
  readonly replaces: string | null;
  readonly modeAndGroup: ModeAndGroup;
}

/**
 * Calls `place` with the names, in their order, until one is free.
 * @param place puts a file in place, or throws EEXIST if the name is taken
 * @returns the name, and the result of `place`
 * @throws EEXIST if no name is free
 */
export function placeUnderFreeName<T>(
  names: readonly string[],
  place: (name: string, isFirst: boolean) => T,
): { readonly name: string; readonly result: T } {
  for (const [index, name] of names.entries()) {
    try {
      return { name, result: place(name, index === 0) };
    } catch (cause) {
      if (index === names.length - 1 || !(toStorageError(cause) instanceof ItemExists)) throw cause;
    }
  }
  throw errorWithCode('EEXIST');
}

/**
 * Gives a staging file a mode in which a later part of its upload can open it again. Ignores errors: a file system without modes needs no
 * such change.
 */
function restoreMode(file: number): void {
  try {
    fs.fchmodSync(file, stagingMode);
  } catch {
    // the caller must get the earlier error, which says why the file was not put in place
  }
}

/**
 * Puts a staging file in place. Opens the parent again, because it may have been moved during a long upload.
 * @returns the name, and the descriptor of the folder: the caller must sync and close it
 */
export function placeStaged(
  root: StorageRoot,
  { file, staging }: StagedUpload,
  { parent, names, replaces, modeAndGroup }: Placing,
): { readonly name: string; readonly folder: number } {
  const folder = openFolder(root, parent);
  try {
    setModeAndGroup(file, folder, modeAndGroup);
    if (replaces === null) {
      const { name } = placeUnderFreeName(names, (freeName, isFirst) => placeFile(staging, { folder, name: freeName }, isFirst));
      return { name, folder };
    }
    const name = names[0] ?? '';
    replaceFile(staging, { folder, name }, replaces);
    return { name, folder };
  } catch (cause) {
    fs.closeSync(folder);
    restoreMode(file);
    throw cause;
  }
}

/** Closes the descriptors of a staging file, which stays. */
export function closeStaged({ file, staging }: StagedUpload): void {
  fs.closeSync(file);
  fs.closeSync(staging.folder);
}

/** Deletes a staging file and closes its descriptors. A file that was put in place stays. */
export function discardStaged(root: StorageRoot, { file, staging, token }: StagedUpload): void {
  try {
    clearStaging(staging);
    deleteMountNote(root, token, staging);
  } finally {
    fs.closeSync(staging.folder);
    fs.closeSync(file);
  }
}
