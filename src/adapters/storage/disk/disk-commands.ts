import fs from 'node:fs';
import { dirname } from 'node:path';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { type ChangeContext, type PendingFileChange, StorageUnavailable } from '#ports/storage.ts';
import { afterCommitPoint, asChange, ConfirmationExpired, errorWithCode, isAbsentError, RootGone, toStorageError } from './disk-errors.ts';
import { withEvidence } from './evidence.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { makeFolder } from './make-folder.ts';
import type { Marks } from './marks.ts';
import { monotonicTime } from './monotonic-time.ts';
import { descriptorPath, isRootPresent, openFolder, openRoot, type StorageRoot } from './open-within-root.ts';
import type { Ownership } from './ownership.ts';
import { type FilledBuffer, fillBuffer, type ReadRequest, type ReadResponse, readFiles } from './read-file.ts';
import { OpenLists, readPage } from './read-folder.ts';
import { clearEvidence, recoverChange } from './recover-change.ts';
import { randomNames, removeEntry } from './remove-entry.ts';
import { deleteTree } from './remove-tree.ts';
import { renameEntry } from './rename-entry.ts';
import { discardStaged, openStagedUpload, type Placing, placeStaged, type StagedUpload, writeStaged } from './staged-upload.ts';
import { type DirectoryEntry, openStagingArea, stagingFolder } from './staging-area.ts';

/** Time within which a confirmed change must be made, in ms: after a longer wait, another process may have recovered it. */
const maxConfirmationAge = 10_000;

/** A change of one name in a folder. */
export interface EntryChange extends Omit<ChangeContext, 'confirm'> {
  readonly parent: ItemPath;
  readonly name: string;
  /** When the change was confirmed, by `monotonicTime`; null: it needs no confirmation. */
  readonly confirmedAt: number | null;
}

/** The folder of a location, as its configuration names it. */
export interface FolderPath {
  readonly path: string;
  /** true: used only while a file system is mounted there. Files uploaded before the mount would be hidden after it. */
  readonly mountPoint: boolean;
}

const notMountedError = () => new StorageUnavailable('nothing is mounted at the folder of the location');

/** Returns whether a file system is mounted at a folder. @param realPath its path without links */
const isMountPoint = (realPath: string) => fs.statSync(realPath).dev !== fs.statSync(dirname(realPath)).dev;

function checkFolder({ path, mountPoint }: FolderPath): void {
  const realPath = fs.realpathSync.native(path);
  if (!fs.statSync(realPath).isDirectory()) throw new StorageUnavailable('the path of the location is not a folder');
  if (mountPoint && !isMountPoint(realPath)) throw notMountedError();
}

function openFolderRoot({ path, mountPoint }: FolderPath): StorageRoot {
  const root = openRoot(path);
  if (!mountPoint || isMountPoint(root.path)) return root;
  fs.closeSync(root.descriptor);
  throw notMountedError();
}

/** Returns a path with all symbolic links resolved, or null if it does not exist. */
function resolveLinks(path: string): string | null {
  try {
    return fs.realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Runs work on the folder of a location. @throws StorageUnavailable for every error: the folder is missing or cannot be read */
function orUnavailable<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof StorageUnavailable ? cause : new StorageUnavailable('the folder of the location is gone', { cause });
  }
}

/** Returns the names in the staging area, or null if there is none. */
function stagedNames(root: StorageRoot): readonly string[] | null {
  if (!fs.lstatSync(descriptorPath(root.descriptor, stagingFolder), { throwIfNoEntry: false })) return null;
  const area = openStagingArea(root);
  try {
    return fs.readdirSync(descriptorPath(area));
  } finally {
    fs.closeSync(area);
  }
}

/** Deletes an entry of the staging area with everything in it. */
function deleteStagedName(root: StorageRoot, name: string): void {
  const area = openStagingArea(root);
  try {
    deleteTree(area, name, randomNames('rm'));
  } finally {
    fs.closeSync(area);
  }
}

/**
 * Changes an entry of a folder.
 * @param change receives the entry, and the marks for recovery
 * @returns the descriptor of the folder: the caller must sync and close it
 */
function changeEntry(
  root: StorageRoot,
  { parent, name, token, pendingTokens, confirmedAt }: EntryChange,
  change: (entry: DirectoryEntry, marks: Marks) => void,
): number {
  return withEvidence(root, parent, token, (own) => {
    const evidenceOf = (otherToken: string): DirectoryEntry => ({ folder: own.folder, name: own.name.replace(token, otherToken) });
    const folder = openFolder(root, parent);
    try {
      if (confirmedAt !== null && monotonicTime() - confirmedAt > maxConfirmationAge)
        throw new ConfirmationExpired('the disk did not answer in time');
      asChange(() => change({ folder, name }, { own, pendingMarks: pendingTokens.map(evidenceOf) }));
      return folder;
    } catch (cause) {
      fs.closeSync(folder);
      throw cause;
    }
  });
}

/**
 * Returns the commands that the threads of a location run in its folder. Each may block for as long as the disk does not answer.
 * @param opened the folder, or null if `openRoot` will open it
 */
export function diskCommands(opened: StorageRoot | null) {
  let openedRoot = opened;
  const lists = new OpenLists();
  function rootOf(): StorageRoot {
    if (!openedRoot) throw errorWithCode('EIO');
    return openedRoot;
  }
  /** Converts errors of system calls. ENOENT proves that an item is absent only while the root itself is there. */
  function withStorageErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (isAbsentError(cause) && !isRootPresent(rootOf()))
        throw new StorageUnavailable('the folder of the location no longer exists', { cause });
      throw toStorageError(cause);
    }
  }
  /** Runs `work` only if the root's path still leads to the open folder: otherwise changes would go into a folder that nobody sees. */
  const inRoot = <T>(work: (root: StorageRoot) => T): T =>
    withStorageErrors(() => {
      const root = rootOf();
      if (!isRootPresent(root)) throw new RootGone('the folder of the location is gone');
      return work(root);
    });

  return {
    check: (folder: FolderPath): void => orUnavailable(() => checkFolder(folder)),
    /** Returns paths with all symbolic links resolved; null for those that do not exist. */
    resolveLinks: (paths: readonly string[]): (string | null)[] => paths.map(resolveLinks),
    openRoot(folder: FolderPath): StorageRoot {
      openedRoot = orUnavailable(() => openFolderRoot(folder));
      return openedRoot;
    },
    readFiles: (requests: readonly ReadRequest[]): readonly ReadResponse[] => readFiles(rootOf(), requests),
    openList: (path: ItemPath, number: number): void => inRoot((root) => lists.open(root, path, number)),
    nextBatch: (number: number): Entry[] => withStorageErrors(() => lists.next(number)),
    closeList: (number: number): void => lists.close(number),
    readPage: (path: ItemPath, query: ListingQuery): ListingPage => inRoot((root) => readPage(root, path, query)),
    /** Fills the beginning of a buffer. The buffer goes back to the caller with the number of bytes. */
    read: (file: number, buffer: ArrayBuffer, length: number, position: number): FilledBuffer =>
      withStorageErrors(() => ({ buffer, count: fillBuffer(file, new Uint8Array(buffer, 0, length), position) })),
    close: (descriptor: number): void => fs.closeSync(descriptor),
    openUpload: (parent: ItemPath, token: string, size: number | null, freeSpace: FreeSpaceFloor): StagedUpload =>
      inRoot((root) => openStagedUpload(root, { parent, token, size }, freeSpace)),
    /** Writes the beginning of a buffer, which goes back to the caller. */
    writeUpload(upload: StagedUpload, buffer: ArrayBuffer, length: number, position: number): FilledBuffer {
      withStorageErrors(() => writeStaged(upload, new Uint8Array(buffer, 0, length), position));
      return { buffer, count: length };
    },
    syncUpload: ({ file }: StagedUpload): void => withStorageErrors(() => fs.fsyncSync(file)),
    placeUpload: (upload: StagedUpload, placing: Placing) => inRoot((root) => asChange(() => placeStaged(root, upload, placing))),
    discardUpload: (upload: StagedUpload): void => withStorageErrors(() => discardStaged(rootOf(), upload)),
    closeUpload({ file, staging }: StagedUpload): void {
      fs.closeSync(file);
      fs.closeSync(staging.folder);
    },
    createFolder: (change: EntryChange, ownership: Ownership): number =>
      inRoot((root) => changeEntry(root, change, (entry, marks) => makeFolder(entry, marks, ownership))),
    rename: (change: EntryChange, newName: string): number =>
      inRoot((root) =>
        changeEntry(root, change, (old, marks) =>
          renameEntry({ old, renamed: { folder: old.folder, name: newName }, token: change.token }, marks),
        ),
      ),
    remove: (change: EntryChange): number =>
      inRoot((root) => changeEntry(root, change, (entry, { own: evidence }) => removeEntry({ entry, evidence, token: change.token }))),
    /** Syncs a folder after a change in it, and closes it. */
    syncFolder: (folder: number): void =>
      withStorageErrors(() => {
        try {
          afterCommitPoint(() => fs.fsyncSync(folder));
        } finally {
          fs.closeSync(folder);
        }
      }),
    recover: (change: PendingFileChange, ownership: Ownership): string | null => inRoot((root) => recoverChange(root, change, ownership)),
    clearEvidence: (change: PendingFileChange): void => inRoot((root) => clearEvidence(root, change)),
    stagedNames: (): readonly string[] | null => inRoot(stagedNames),
    deleteStagedName: (name: string): void => inRoot((root) => deleteStagedName(root, name)),
  };
}

type DiskCommands = ReturnType<typeof diskCommands>;
export type CommandName = keyof DiskCommands;
export type CommandParameters<K extends CommandName> = Parameters<DiskCommands[K]>;
export type CommandResult<K extends CommandName> = ReturnType<DiskCommands[K]>;
