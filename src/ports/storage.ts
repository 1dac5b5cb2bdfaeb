import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';

/** A file held open: what is read is what its entry said, whatever happens to the name. */
export interface OpenFile {
  readonly entry: Entry;
  /** All its bytes, where it is small and they came along. */
  readonly whole?: Uint8Array;
  /** Reads up to `into.length` bytes from `position`; the number read, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** A file on its way in: nothing is visible until it is placed. */
export interface Upload {
  write(chunk: Uint8Array): Promise<void>;
  /** Waits until all that was written is on disk; nothing is visible yet. */
  complete(): Promise<void>;
  /**
   * Puts it in place, on disk for good: under `name` if that is free, or over `replaces`.
   * @throws ItemExists, ItemStale
   */
  place(name: string, replaces: { readonly etag: string } | null): Promise<Entry>;
  /** Forgets the staging copy; after place, what was placed stays. */
  forget(): Promise<void>;
  /** Lets go of it and leaves the staging copy: it tells a recovery that the file was put in place. */
  leave(): Promise<void>;
}

/** A change that was recorded as begun; its token names what it put aside meanwhile. */
export interface PendingFileChange {
  readonly action: 'upload' | 'createFolder' | 'rename' | 'delete';
  readonly parent: ItemPath;
  readonly name: string;
  /** Rename: the new name. */
  readonly newName: string;
  readonly token: string;
}

/** What tells a change apart from all others, after a crash too. */
export interface ChangeMark {
  /** Names what the change puts aside, and what tells recovery how far it came. */
  readonly token: string;
  /** Awaited last of all before the change is made. @throws where it must not be made any more */
  readonly confirm?: () => Promise<void>;
  /** Tokens of changes to the same name that have begun and not ended: where this one takes the name, those have not. */
  readonly overtaken: readonly string[];
}

/** A place that holds files. An ItemPath is a list of checked segments (core/item-path): no adapter splits or decodes one. */
export interface Storage {
  /** Answers as long as the place does. */
  check(): Promise<void>;
  /** null where nothing lies at `path`, or what is neither file nor folder. Every method throws StorageAway where the place does not answer. */
  stat(path: ItemPath): Promise<Entry | null>;
  /** Where a front server on the same machine finds what lies at `path`; null: on no disk of this machine. */
  onDisk(path: ItemPath): string | null;
  /** The entries of a folder in batches, in no order; null where there is no folder. */
  list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null>;
  /** One page of a folder, sorted; null where there is no folder. @throws PageTooDeep (core/listing) */
  page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null>;
  /** null where there is no file. */
  open(path: ItemPath): Promise<OpenFile | null>;
  /** @throws ItemExists, ItemAbsent (no such parent), StorageFull */
  createFolder(parent: ItemPath, name: string, mark: ChangeMark): Promise<void>;
  /**
   * @param token names the staging copy, and is recorded beforehand, so that a later start can settle what a crash left
   * @param expected bytes that will come, where that is known: what has no room is refused before it is sent
   * @throws ItemAbsent (no such parent), StorageFull
   */
  upload(parent: ItemPath, token: string, expected?: number | null): Promise<Upload>;
  /**
   * Did the change take place before a crash? Puts right what it left half done; the same answer however often.
   * @returns the name that it gave or took; null: it did not take place
   */
  recover(change: PendingFileChange): Promise<string | null>;
  /** Clears away what told `settle` the answer, once that is recorded, whatever it is. */
  clear(change: PendingFileChange): Promise<void>;
  /** @throws ItemAbsent, ItemExists */
  rename(parent: ItemPath, from: string, to: string, mark: ChangeMark): Promise<void>;
  /**
   * A file, or a folder with all that is in it, in one step. It may stay aside until `clear`, and tells `settle` that it
   * was removed.
   * @throws ItemAbsent
   */
  remove(parent: ItemPath, name: string, mark: Omit<ChangeMark, 'overtaken'>): Promise<void>;
  /**
   * Clears away what a crash left of uploads and removals.
   * @param underWay tokens of what is not left but under way, committed before anything was put there
   */
  sweep(underWay: () => Promise<readonly string[]>): Promise<void>;
}

/** The place does not answer: an unmounted disk, a service that is down. */
export class StorageAway extends Error {}
/** The place refuses what every change needs, and nothing was done: an operator has to put it right. */
export class StorageRefused extends Error {}
/** There is no room left. */
export class StorageFull extends Error {}
/** Nothing lies there. */
export class ItemAbsent extends Error {}
/** The name is taken. */
export class ItemExists extends Error {}
/** It is no longer what the caller saw. */
export class ItemStale extends Error {}
