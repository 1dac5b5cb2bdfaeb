import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';

/** An open file. Reads return the content that `entry` describes, even if the name is deleted or replaced meanwhile. */
export interface OpenFile {
  readonly entry: Entry;
  /** The entire content, if the file is so small that it was read when it was opened. */
  readonly content?: Uint8Array;
  /** Reads up to `buffer.length` bytes from `position`. @returns the number of bytes read; 0 at the end of the file */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** An upload into a staging file. Visitors see no file before `place`. */
export interface Upload {
  write(chunk: Uint8Array): Promise<void>;
  /** Syncs all written bytes to disk. The file is not visible yet. */
  sync(): Promise<void>;
  /**
   * Makes the file visible under `name`, and syncs this to disk.
   * @param replaces the file that it must replace; null: the name must be free
   * @throws ItemExists if the name is taken
   * @throws ItemChanged if the file with that name is not `replaces`
   */
  place(name: string, replaces: { readonly etag: string } | null): Promise<Entry>;
  /** Closes the upload and deletes the staging file. A file that `place` has made visible stays. */
  discard(): Promise<void>;
  /** Closes the upload and keeps the staging file, from which recovery sees whether the file was put in place. */
  closeForRecovery(): Promise<void>;
}

/** A change that was recorded as pending. */
export interface PendingFileChange {
  readonly action: 'upload' | 'createFolder' | 'rename' | 'delete';
  readonly parent: ItemPath;
  readonly name: string;
  /** New name of a rename. */
  readonly newName: string;
  /** Names the files of the change in the staging area. */
  readonly token: string;
}

/** Identifies a change among all others, so that recovery can find its traces after a crash. */
export interface ChangeContext {
  /** Names the files of the change in the staging area, from which recovery sees how far the change came. */
  readonly token: string;
  /** Awaited directly before the change is made. @throws if the change must not be made any more, as another process has recovered it */
  readonly confirm?: () => Promise<void>;
  /** Tokens of other pending changes to the same name. If this change finds the name free, none of them has taken place. */
  readonly pendingTokens: readonly string[];
}

/**
 * The files of a location. Every method throws StorageUnavailable if the storage does not answer. Adapters must not split or decode
 * an ItemPath: its segments are already checked (core/item-path).
 */
export interface Storage {
  /** Checks that the storage answers. */
  check(): Promise<void>;
  /** Returns the entry at `path`, or null if there is no file or folder. */
  stat(path: ItemPath): Promise<Entry | null>;
  /** Returns the absolute path on the disk of this machine, for a front server that sends files itself; null: not on a local disk. */
  diskPath(path: ItemPath): string | null;
  /** Returns the entries of a folder in batches, unsorted, or null if there is no folder. */
  list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null>;
  /** Returns one sorted page of a folder, or null if there is no folder. @throws PageTooDeep (core/listing) */
  page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null>;
  /** Opens a file. @returns null if there is no file */
  open(path: ItemPath): Promise<OpenFile | null>;
  /** Creates a folder. @throws ItemExists, ItemNotFound (no such parent), StorageFull */
  createFolder(parent: ItemPath, name: string, mark: ChangeContext): Promise<void>;
  /**
   * Starts an upload into a folder.
   * @param token names the staging file. The caller must record it first, so that recovery can find the file after a crash.
   * @param expected size of the file in bytes, if known: a file without enough free space is refused before it is sent
   * @throws ItemNotFound (no such parent), StorageFull
   */
  upload(parent: ItemPath, token: string, expected?: number | null): Promise<Upload>;
  /**
   * Finds out whether a change took place before a crash, and repairs what is half done. Calling it again gives the same
   * result.
   * @returns the name that the change created, renamed to or removed; null: the change did not take place
   */
  recover(change: PendingFileChange): Promise<string | null>;
  /** Deletes the traces of a change in the staging area. Call it only after the outcome is recorded: `recover` needs them. */
  clearEvidence(change: PendingFileChange): Promise<void>;
  /** Renames a file or folder within its folder. @throws ItemNotFound, ItemExists */
  rename(parent: ItemPath, from: string, to: string, mark: ChangeContext): Promise<void>;
  /**
   * Removes a file, or a folder with its contents, in one step. The item may stay in the staging area until `clear`, so that
   * `recover` sees that it was removed.
   * @throws ItemNotFound
   */
  remove(parent: ItemPath, name: string, mark: Omit<ChangeContext, 'pendingTokens'>): Promise<void>;
  /**
   * Deletes what a crash has left of uploads and removals in the staging area.
   * @param pendingTokens returns the tokens of pending changes, whose files must stay. It is called after the staging area was
   *   listed. A token is committed before its first file is created, so that no file of a new change is deleted.
   */
  sweep(pendingTokens: () => Promise<readonly string[]>): Promise<void>;
}

/** The storage does not answer, as an unmounted disk or a service that is down. */
export class StorageUnavailable extends Error {}
/** The storage lacks what every change needs, such as a writable staging area. Nothing was changed; an operator has to repair it. */
export class StorageUnusable extends Error {}
/** The storage has no free space. */
export class StorageFull extends Error {}
/** There is no file or folder with this path. */
export class ItemNotFound extends Error {}
/** The name is already in use. */
export class ItemExists extends Error {}
/** The file has changed since the caller read its etag. */
export class ItemChanged extends Error {}
