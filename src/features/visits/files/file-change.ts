import type { ItemPath } from '#core/item-path.ts';
import type { SpaceChange } from '#features/quotas/counted-folders.ts';
import type { Confirm, PendingFileChange } from '#ports/storage.ts';
import type { Tx } from '#ports/store.ts';

export interface FileChange {
  readonly action: PendingFileChange['action'];
  /** Path relative to the root of the share. */
  readonly path: ItemPath;
  readonly parent: ItemPath;
  readonly name: string;
  readonly newName?: string;
  /** Token of an upload in parts, whose staging file exists already. undefined: the change gets a new one. */
  readonly token?: string;
  /**
   * What an upload adds. Its first bytes are claimed when it is recorded as pending, the others while they arrive. undefined: the change adds nothing that a quota limits, or is an
   * upload in parts, whose own row claims its space.
   */
  readonly claim?: SpaceChange;
  readonly alert: boolean;
}

/** What a change has added to its folder; `unknown` or `mayDiffer`: the files must be counted again. */
export type MeasuredSpace = (SpaceChange & { readonly mayDiffer?: true }) | 'unknown';

export interface FileChangeOutcome<T> {
  readonly value: T;
  readonly path?: string;
  readonly bytes?: number;
  readonly after?: object;
  /** What the change has added to its folder. undefined: nothing. */
  readonly space?: MeasuredSpace;
}

/** `SaveResponseOf` with the response already bound. */
export type SaveResponse = (tx: Tx, auditId: number) => Promise<void>;

/** A change that is recorded as pending. */
export interface PendingChange {
  /** Part of the names of the change's files in the staging area. These files show recovery which steps were done. */
  readonly token: string;
  /**
   * Checks that the change is still pending: directly before it has an effect in the storage, and again after long steps.
   * @throws StoreUnavailable if another process has begun to recover the change
   */
  readonly confirm: Confirm;
  /**
   * Records the handle of an upload, so that recovery can find what was sent to the storage. Must be called before the
   * first byte is written; for an upload in parts, before the file is put in place.
   */
  readonly recordHandle: (handle: string) => Promise<void>;
}

export interface FileChangeSteps<T> {
  readonly apply: (pending: PendingChange) => Promise<FileChangeOutcome<T>>;
  /**
   * Deletes the files of the change in the staging area, after the outcome is recorded. A failure does not change the
   * response: the next sweep deletes them.
   */
  readonly deleteEvidence: (token: string) => Promise<void>;
  /** Returns whether the change has had no effect yet. If the change fails before it has an effect, its audit entry is deleted. */
  readonly hasNoEffect?: () => boolean;
  /** Called in the transaction that records the change as done. */
  readonly recordAlso?: (tx: Tx) => Promise<void>;
}

/**
 * Stores the response for duplicates of the request, in the transaction that records the change as pending. Duplicates get it
 * once the change has taken place, even if the process ended in between.
 */
export type SaveResponseOf<T> = (tx: Tx, value: T, auditId: number) => Promise<void>;
