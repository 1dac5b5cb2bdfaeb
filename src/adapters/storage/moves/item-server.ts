import type { Entry } from '#core/listing.ts';
import type { Confirm } from '#ports/storage.ts';

/** An item as a server describes it. */
export interface ServerEntry extends Entry {
  /** true: the file has no bytes. If `isEmpty` is not true and `size` is 0, the server has not sent the size. */
  readonly isEmpty?: boolean;
}

/**
 * The outcome of a request that moves an item: moved; lost: the connection was lost; failed: the response is unclear, or an SFTP server has
 * sent none in time; an error: the server refuses the move, or `move` did not request it. `ItemMoves` checks what has happened.
 */
export type MoveOutcome = 'moved' | 'lost' | 'failed' | Error;

export interface MoveOptions {
  readonly isFolder: boolean;
  /** Replaces the file that has the new name. */
  readonly overwrites: boolean;
  /** Awaited directly before the request that changes something. */
  readonly confirm?: Confirm | undefined;
}

/**
 * A server that moves a file or folder with one request. Every method throws StorageUnavailable if the server does not respond; `move` may
 * return `lost` or `failed` instead.
 */
export interface ItemServer {
  /** How long the server may still work on a move, in ms from the time in its marker, which is written before the request. */
  readonly maxWorkTimes: {
    readonly move: number;
    /** For a file that was just stored, if its new name was free. @param size in bytes */
    readonly newFile: (size: number) => number;
  };
  /** true: an item is moved in one step. false: the server may copy it and then delete it, so that a part of it can be at each name. */
  readonly movesAtOnce: boolean;
  /** Returns whether the file at `path`, of `size` bytes, is the beginning of that at `whole`. Called only if `movesAtOnce` is false. */
  isPart(path: readonly string[], size: number, whole: readonly string[]): Promise<boolean>;
  /** Returns the entry of an item, or null. */
  find(path: readonly string[]): Promise<ServerEntry | null>;
  /** Returns the entries of a folder in batches, unsorted. A batch may be empty. */
  list(path: readonly string[]): AsyncIterable<readonly ServerEntry[]>;
  /** Returns the text of a short file, or null if there is none. */
  readText(path: readonly string[]): Promise<string | null>;
  /** Writes a short file, or replaces it. @returns false if there is no such parent folder */
  writeText(path: readonly string[], text: string): Promise<boolean>;
  /** Creates a folder, unless it exists. @returns false if there is no such parent folder */
  createFolder(path: readonly string[]): Promise<boolean>;
  /** Creates the folder of the evidence, unless it exists. @throws StorageUnusable */
  createStagingFolder(path: readonly string[]): Promise<void>;
  /** Moves an item. @throws the error of `confirm` */
  move(from: readonly string[], to: readonly string[], options: MoveOptions): Promise<MoveOutcome>;
  /** Deletes an item with everything in it. A missing item is no error. */
  delete(path: readonly string[]): Promise<void>;
}
