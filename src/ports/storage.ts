import type { ItemPath } from '#core/item-path.ts';
import type { DatedEntry, Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import type { FilledRun, RunFile } from './file-runs.ts';

/** First and last byte, both inclusive; no bytes if the last comes before the first. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An open file. Reads throw ItemChanged if the storage notices that the file no longer has the content that `entry` describes. */
export interface OpenFile {
  readonly entry: DatedEntry;
  /** The entire content, if the file is so small that it was read when it was opened. */
  readonly content?: Uint8Array;
  /**
   * Yields the bytes of a range in order, in pieces of any size. A piece may be used until the next one is requested. The next
   * piece is read meanwhile.
   * @param signal ends the wait for a storage that does not respond: a caller cannot leave a loop while the loop waits
   * @throws ItemChanged if the file ends before the range does, or the storage no longer has its content; StorageUnavailable; the reason of
   *   the signal
   */
  read(range: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Address of the client for which the storage works: the networks of clients take turns. undefined: the work is not for a client. */
export type StorageClient = string | undefined;

/** Where and how an uploaded file is stored. */
export interface UploadTarget {
  readonly parent: ItemPath;
  readonly name: string;
  /** Bytes; null: unknown. If known, a large file for which there is not enough free space is refused before it is sent. */
  readonly size: number | null;
  /** If the name is in use: refuse the upload, add a number (or else a random text) to the name, or replace the file that has this etag. */
  readonly ifTaken: 'refuse' | 'number' | { readonly replaces: string };
  readonly client?: StorageClient;
}

/** @throws if this process must not make the change, because another one has recovered or continued it */
export type Confirm = () => Promise<void>;

/**
 * Runs a step that puts a file in place, while no other change uses the name in its folder.
 * @param step returns false if the name was taken, and nothing has changed
 */
export type LockName = (name: string, step: () => Promise<boolean>) => Promise<boolean>;

/** An upload into a staging file. Visitors see no file before `place`. Only one method may run at a time. */
export interface Upload {
  /**
   * What recovery needs besides the token, such as the id of a multipart upload. The caller must record it before the first
   * `write`. null: the token is enough.
   */
  readonly handle: string | null;
  /** Resolves when the next chunk may be written. The chunk may be reused then. @throws StorageFull */
  write(chunk: Uint8Array): Promise<void>;
  /** Makes all written bytes durable, except those of a small file that `place` stores with one request. The file is not visible yet. */
  sync(): Promise<void>;
  /**
   * Makes the file visible permanently: it stays visible after a crash. @returns its name
   * @param confirm awaited directly before the file becomes visible, and again before a request that is repeated
   * @param lockName runs the step that puts a file with the target `number` under a name, for each name that is tried. Needed if the trait
   *   `create` is `checked`
   * @throws ItemExists if the name is taken
   * @throws ItemChanged if the file to replace has changed
   * @throws ItemNotFound if the parent no longer exists
   * @throws ItemBusy, PathTooLong, StorageFull, ChangeImpossible
   */
  place(confirm?: Confirm, lockName?: LockName): Promise<string>;
  /** Closes the upload and deletes the staging file. A file that `place` has made visible stays. */
  discard(): Promise<void>;
  /** Closes the upload and keeps the staging file, from which recovery sees whether the file was put in place. */
  closeForRecovery(): Promise<void>;
}

/** An upload that was closed for recovery and will be continued. */
export interface ClosedUpload {
  readonly token: string;
  /** `Upload.handle` */
  readonly handle: string | null;
  /** Number of bytes to keep, which were synced. Bytes that were written after them are overwritten. */
  readonly offset: number;
  /** Awaited directly before bytes are written. If it throws, nothing is written: another process has continued the upload. */
  readonly confirm?: Confirm;
}

/** An upload that continues after a request, or a process, has ended. */
export interface ContinuedUpload extends Upload {
  /** Yields all bytes of the file, from the first one. Call it after `place`. A piece may be used until the next one is requested. */
  readBack(): AsyncIterable<Uint8Array>;
}

/** What a kind of storage guarantees. */
export interface StorageTraits {
  /**
   * atomic: of several uploads to one free name, only one succeeds. checked: two at the same moment
   * may both succeed.
   */
  readonly create: 'atomic' | 'checked';
  /** The same for several uploads that replace one file. */
  readonly replace: 'atomic' | 'checked';
  /**
   * How many files of an archive are opened ahead, while one is sent: more than 0 for a storage that is reached over the
   * network. An open file should need 128 KiB of memory at most.
   */
  readonly openAhead: number;
  /**
   * real: a folder is renamed and removed in one step. prefix: a folder is a prefix of names, and
   * is changed file by file.
   */
  readonly folders: 'real' | 'prefix';
}

/** Headers of the response at a signed address. */
export interface SignedHeaders {
  readonly contentType: string;
  readonly contentDisposition: string;
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
  /** The handle of the upload, if it had begun and has one. */
  readonly handle?: string | null;
}

/** Identifies a change among all others, so that recovery can find its evidence after a crash. */
export interface ChangeContext {
  /**
   * Part of the names of the change's files in the staging area. These files show recovery which
   * steps were done.
   */
  readonly token: string;
  /** Awaited directly before the change is made. */
  readonly confirm?: Confirm;
  /** Tokens of other pending changes to the same name. If this change finds the name free, none of them has taken place. */
  readonly pendingTokens: readonly string[];
  readonly client?: StorageClient;
}

/** Returns which of the given tokens belong to pending changes or unfinished uploads: their files in the staging area must stay. */
export type FindTokensInUse = (tokens: readonly string[]) => Promise<readonly string[]>;

/** A step of the test of a location. */
export interface TestStep {
  readonly step: 'connect' | 'signIn' | 'list' | 'write' | 'read' | 'conditions' | 'remove';
  /** @param note is called with what an operator should know. @throws if the step fails */
  run(note: (detail: string) => void): Promise<void>;
}

/**
 * The files of a location. Every method throws StorageUnavailable if the storage does not respond. Methods that change files, and `sweep`,
 * may throw StorageUnusable. Adapters must not split or decode an ItemPath: its segments are already checked (core/item-path).
 */
export interface Storage {
  readonly traits: StorageTraits;
  /** Checks that the storage responds. */
  check(): Promise<void>;
  /**
   * Returns the steps that test the location, in order. A step may need those before it. `remove` deletes what the others have written.
   * @param token names what the test writes in the staging area, from which `sweep` deletes it after a crash
   */
  testSteps(token: string): readonly TestStep[];
  /** Returns the entry at `path`, or null if there is no file or folder. */
  stat(path: ItemPath): Promise<Entry | null>;
  /** Returns the path of a file on the disk of this machine, for a reverse proxy; null: there is none. */
  pathOnDisk(path: ItemPath): Promise<string | null>;
  /** Returns an address at which a browser can download a file from the service itself; null: there are none. @param lifetime seconds */
  readonly signedAddress: ((path: ItemPath, headers: SignedHeaders, lifetime: number) => Promise<string>) | null;
  /**
   * Returns a text that is the same for every location that contains this folder, so that all these locations use the same locks. The text
   * of each item in this folder begins with the text of the folder and one slash, so that a change of the item and one of the folder wait
   * for each other. Slashes at the end do not count.
   */
  folderKey(path: ItemPath): Promise<string>;
  /** Returns the entries of a folder in batches, unsorted, or null if there is no folder. A batch may be empty. */
  list(path: ItemPath, client?: StorageClient): Promise<AsyncIterable<readonly Entry[]> | null>;
  /** Returns one sorted page of a folder, or null if there is no folder. The caller disposes its `memory`. @throws PageTooDeep */
  page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null>;
  /** Opens a file. @returns null if there is no file @throws ItemArchived; ItemChanged if the file changes while it is opened */
  open(path: ItemPath, client?: StorageClient): Promise<OpenFile | null>;
  /**
   * Reads several small files into a buffer. Afterwards, use only the buffer in the result. null: the storage reads files one by one.
   * @throws ItemChanged if a file is gone or has another ETag
   */
  readonly readRun: ((files: readonly RunFile[], buffer: ArrayBuffer, client?: StorageClient) => Promise<FilledRun>) | null;
  /** Creates a folder. @throws ItemExists, ItemNotFound (no such parent), ItemBusy, PathTooLong, StorageFull, ChangeImpossible */
  createFolder(parent: ItemPath, name: string, context: ChangeContext): Promise<void>;
  /**
   * Starts an upload into a folder.
   * @param token names the staging file. The caller must record it first, so that recovery can find the file after a crash.
   * @throws ItemNotFound (no such parent), PathTooLong, StorageFull; for a small file, `sync` or `place` may throw them instead
   */
  upload(target: UploadTarget, token: string): Promise<Upload>;
  /**
   * Continues an upload that `closeForRecovery` has closed: a new one without bytes, or one that was continued before. Its size must be
   * known. null: the storage cannot continue uploads, so a file must be sent in one request.
   * @throws ItemNotFound (what was written is gone), StorageFull
   */
  readonly continueUpload: ((target: UploadTarget, upload: ClosedUpload) => Promise<ContinuedUpload>) | null;
  /**
   * Finds out whether a change took place before a crash, and repairs what is half done. A further call gives the same result.
   * @param confirm awaited directly before anything is deleted that may have got a newer content since: another process may have found
   *   out the outcome while this one was suspended
   * @returns the name that the change created, renamed to or removed; null: the change did not take place
   * @throws ItemNotFound if the folder of the change is missing, and no evidence shows that the change took place
   */
  recover(change: PendingFileChange, confirm?: Confirm): Promise<string | null>;
  /**
   * Makes sure that the replacement of a file, for which `recover` has returned null, cannot take place later.
   * @returns false if nothing was done: the replacement has not begun, or a change of the file in the meantime makes it fail by itself
   */
  giveUp(change: PendingFileChange): Promise<boolean>;
  /** Deletes the evidence of a change in the staging area. Call it only after the outcome is recorded: `recover` needs it. */
  clearEvidence(change: PendingFileChange): Promise<void>;
  /**
   * Renames a file or folder within its folder.
   * @throws ItemNotFound, ItemExists, ItemBusy, PathTooLong, StorageFull, ChangeImpossible
   */
  rename(parent: ItemPath, from: string, to: string, context: ChangeContext): Promise<void>;
  /**
   * Removes a file, or a folder with its contents: in one step if `traits.folders` is real. The item may stay in the
   * staging area until `clearEvidence`, so that `recover` sees that it was removed.
   * @throws ItemNotFound, ItemBusy, StorageFull, ChangeImpossible
   */
  remove(parent: ItemPath, name: string, context: Omit<ChangeContext, 'pendingTokens'>): Promise<void>;
  /**
   * Deletes what changes have left in the staging area, for example after a crash.
   * @param findTokensInUse is called after the staging area, or a page of it, was listed. A token is committed before its first file is
   *   created, so that no file of a new change is deleted.
   * @param signal ends a sweep that takes too long: the next one continues
   */
  sweep(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void>;
}
