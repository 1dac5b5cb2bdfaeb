import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingQuery } from '#core/listing.ts';
import type { FilledRun, RunFile } from '#ports/file-runs.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { changeEntry, type EntryChange } from './change-entry.ts';
import { type ConfirmedAt, hasExpired } from './confirmation.ts';
import { afterCommitPoint, errorWithCode, isAbsentError, RootGone, runDiskChange, toStorageError, withImpossible } from './disk-errors.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { checkLocationFolder, type FolderPath, openFolderRoot, resolveLinks } from './location-folder.ts';
import { makeFolder } from './make-folder.ts';
import type { ModeAndGroup } from './mode-and-group.ts';
import { isRootPresent, type StorageRoot } from './open-within-root.ts';
import { type FilledBuffer, fillBuffer, type ReadRequest, type ReadResponse, readFiles } from './read-file.ts';
import { type OpenedList, OpenLists, type PageRead, readPage } from './read-folder.ts';
import { readRun } from './read-run.ts';
import { clearEvidence, recoverChange } from './recover-change.ts';
import { removeEntry } from './remove-entry.ts';
import { renameEntry } from './rename-entry.ts';
import { deleteStagedName, stagedNames } from './staged-names.ts';
import {
  closeStaged,
  discardStaged,
  openStagedUpload,
  type Placing,
  placeStaged,
  reopenStagedUpload,
  type StagedUpload,
  syncStaged,
  writeStaged,
} from './staged-upload.ts';
import { deleteSpareMarks, type SmallFile, type SmallFileOptions, type StoredSmallFile, storeSmallFile } from './store-small-file.ts';

/** The commands that run in threads. Each may block for as long as the disk does not respond. */
export class DiskCommands {
  readonly #lists = new OpenLists();
  #openedRoot: StorageRoot | null;

  /** @param root the open folder; null: `openRoot` opens it later, or the commands need no open folder */
  constructor(root: StorageRoot | null) {
    this.#openedRoot = root;
  }

  check(folder: FolderPath): void {
    checkLocationFolder(folder);
  }

  /** Returns whether the staging area of a folder is empty. The folder need not be open. */
  isStagingEmpty(folder: FolderPath): boolean {
    const root = openFolderRoot(folder);
    try {
      return (new DiskCommands(root).stagedNames() ?? []).length === 0;
    } finally {
      fs.closeSync(root.descriptor);
    }
  }

  /** Returns paths with all symbolic links resolved; null for a path that does not exist or cannot be read. */
  resolveLinks(paths: readonly string[]): (string | null)[] {
    return paths.map(resolveLinks);
  }

  openRoot(folder: FolderPath): StorageRoot {
    this.#openedRoot = openFolderRoot(folder);
    return this.#openedRoot;
  }

  readFiles(requests: readonly ReadRequest[]): readonly ReadResponse[] {
    return readFiles(this.#root, requests);
  }

  openList(path: ItemPath, number: number): OpenedList {
    return this.#inRoot((root) => this.#lists.open(root, path, number));
  }

  nextBatch(number: number): Entry[] {
    return this.#withStorageErrors(() => this.#lists.next(number));
  }

  closeList(number: number): void {
    this.#lists.close(number);
  }

  readPage(path: ItemPath, query: ListingQuery, knownVersion: string | null): PageRead {
    return this.#inRoot((root) => readPage(root, path, query, knownVersion));
  }

  /** Fills the beginning of a buffer. The buffer goes back to the caller with the number of bytes. */
  read(file: number, buffer: ArrayBuffer, length: number, position: number): FilledBuffer {
    return this.#withStorageErrors(() => ({ buffer, count: fillBuffer(file, new Uint8Array(buffer, 0, length), position) }));
  }

  readRun(files: readonly RunFile[], buffer: ArrayBuffer): FilledRun {
    return this.#inRoot((root) => readRun(root, files, buffer));
  }

  close(descriptor: number): void {
    fs.closeSync(descriptor);
  }

  openUpload(parent: ItemPath, token: string, size: number | null, freeSpace: FreeSpaceFloor): StagedUpload {
    return this.#inRoot((root) => withImpossible(() => openStagedUpload(root, { parent, token, size }, freeSpace)));
  }

  reopenUpload(parent: ItemPath, token: string, offset: number, size: number | null, freeSpace: FreeSpaceFloor): StagedUpload {
    return this.#inRoot((root) => reopenStagedUpload(root, { parent, token, offset, size }, freeSpace));
  }

  storeSmallUpload(file: SmallFile, placing: Placing, options: SmallFileOptions): StoredSmallFile {
    return this.#inRoot((root) => withImpossible(() => storeSmallFile(root, file, placing, options)));
  }

  deleteSpareMarks(tokens: readonly string[]): void {
    this.#inRoot((root) => deleteSpareMarks(root, tokens));
  }

  /** Writes the beginning of a buffer, which goes back to the caller. @returns 0 as `count` if the confirmation has expired */
  writeUpload(upload: StagedUpload, buffer: ArrayBuffer, length: number, position: number, confirmedAt: ConfirmedAt): FilledBuffer {
    if (hasExpired(confirmedAt)) return { buffer, count: 0 };
    this.#withStorageErrors(() => writeStaged(upload, new Uint8Array(buffer, 0, length), position));
    return { buffer, count: length };
  }

  syncUpload(upload: StagedUpload): void {
    this.#withStorageErrors(() => syncStaged(upload));
  }

  placeUpload(upload: StagedUpload, placing: Placing) {
    return this.#inRoot((root) => runDiskChange(() => placeStaged(root, upload, placing)));
  }

  discardUpload(upload: StagedUpload): void {
    this.#withStorageErrors(() => discardStaged(this.#root, upload));
  }

  closeUpload(upload: StagedUpload): void {
    closeStaged(upload);
  }

  /** Returns the descriptor of the changed folder, for `syncFolder`. `rename` and `remove` return it, too. */
  createFolder(change: EntryChange, modeAndGroup: ModeAndGroup): number {
    return this.#change(change, (entry, evidence) => makeFolder(entry, evidence, modeAndGroup));
  }

  rename(change: EntryChange, newName: string): number {
    return this.#change(change, (old, evidence) =>
      renameEntry({ old, newEntry: { folder: old.folder, name: newName }, token: change.token }, evidence),
    );
  }

  remove(change: EntryChange): number {
    return this.#change(change, (entry, { own: evidence }) => removeEntry({ entry, evidence, token: change.token }, change.confirmedAt));
  }

  /** Syncs a folder after a change in it, and closes it. */
  syncFolder(folder: number): void {
    this.#withStorageErrors(() => {
      try {
        afterCommitPoint(() => fs.fsyncSync(folder));
      } finally {
        fs.closeSync(folder);
      }
    });
  }

  recover(change: PendingFileChange, modeAndGroup: ModeAndGroup): string | null {
    return this.#inRoot((root) => recoverChange(root, change, modeAndGroup));
  }

  clearEvidence(change: PendingFileChange): void {
    this.#inRoot((root) => clearEvidence(root, change));
  }

  stagedNames(): readonly string[] | null {
    return this.#inRoot(stagedNames);
  }

  deleteStagedName(name: string): void {
    this.#inRoot((root) => deleteStagedName(root, name));
  }

  #change(change: EntryChange, apply: Parameters<typeof changeEntry>[2]): number {
    return this.#inRoot((root) => withImpossible(() => changeEntry(root, change, apply)));
  }

  get #root(): StorageRoot {
    if (!this.#openedRoot) throw errorWithCode('EIO');
    return this.#openedRoot;
  }

  /** Converts errors of system calls. ENOENT proves that an item is absent only while the root itself is there. */
  #withStorageErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (isAbsentError(cause) && !isRootPresent(this.#root))
        throw new StorageUnavailable('the folder of the location no longer exists', { cause });
      throw toStorageError(cause);
    }
  }

  /** Runs `work` only if the root's path still leads to the open folder: otherwise changes would go into a folder that nobody sees. */
  #inRoot<T>(work: (root: StorageRoot) => T): T {
    return this.#withStorageErrors(() => {
      const root = this.#root;
      if (!isRootPresent(root)) throw new RootGone('the folder of the location is gone');
      return work(root);
    });
  }
}

export type CommandName = keyof DiskCommands;
export type CommandParameters<K extends CommandName> = Parameters<DiskCommands[K]>;
export type CommandResult<K extends CommandName> = ReturnType<DiskCommands[K]>;
