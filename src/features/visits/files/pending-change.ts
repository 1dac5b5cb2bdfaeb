import type { ItemPath } from '#core/item-path.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import type { SpaceChange } from '#features/quotas/counted-folders.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { Tx } from '#ports/store.ts';
import { confirmPending, deletePendingEntry, recordDone, recordFailed, recordHandle, recordPending } from './pending-records.ts';

const tokenBits = 96;
/** Returns the token of a new change. */
export const newChangeToken = ({ random }: Pick<Ports, 'random'>) => random.token(tokenBits);

/** A change of a file or folder. */
export interface FileChange {
  readonly action: PendingFileChange['action'];
  /** Path relative to the root of the share. */
  readonly path: ItemPath;
  readonly parent: ItemPath;
  readonly name: string;
  readonly newName?: string;
  /** Token of an upload in parts, whose staging file exists already. undefined: the change gets a new one. */
  readonly token?: string;
  /** What an upload adds. Most of its bytes are claimed while they arrive. undefined: nothing that a quota limits. */
  readonly claim?: SpaceChange;
  readonly alert: boolean;
}

/** What a change has added to its folder; `unknown` or `mayDiffer`: the files must be counted again. */
export type MeasuredSpace = (SpaceChange & { readonly mayDiffer?: true }) | 'unknown';

/** The result of a change. */
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
  /** Part of the names of the files of the change in the staging area, which show recovery the steps that were done. */
  readonly token: string;
  /**
   * Called as the last step before a folder is created, or an item renamed or deleted.
   * @throws StoreUnavailable if another process has recovered the change meanwhile
   */
  readonly confirm: () => Promise<void>;
  /**
   * Records the handle of an upload, so that recovery can find what was sent to the storage. Must be called before the
   * first byte is written; for an upload in parts, before the file is put in place.
   */
  readonly recordHandle: (handle: string) => Promise<void>;
}

/** The steps of a change. */
export interface FileChangeSteps<T> {
  readonly apply: (pending: PendingChange) => Promise<FileChangeOutcome<T>>;
  /**
   * Deletes the files of the change in the staging area, after the outcome is recorded. A failure does not change the
   * response: the next sweep deletes them.
   */
  readonly deleteEvidence: (token: string) => Promise<void>;
  /** Returns whether the change has had no effect yet. If it fails then, its audit entry is deleted. */
  readonly hasNoEffect?: () => boolean;
  /** Called in the transaction that records the outcome. */
  readonly recordAlso?: (tx: Tx) => Promise<void>;
}

/**
 * Stores the response for duplicates of the request, in the transaction that records the change as pending. Duplicates get it
 * once the change has taken place, even if the process ended in between.
 */
export type SaveResponseOf<T> = (tx: Tx, value: T, auditId: number) => Promise<void>;

/** What a change of files uses. */
export type ChangePorts = Pick<Ports, 'store' | 'clock' | 'random' | 'process' | 'limits'> & Pick<VisitServices, 'runningChanges'>;

/**
 * Records a change as pending, makes it, and commits its outcome and its alert together before the response. Another process, or
 * the next start, recovers a change that a crash interrupted.
 * @throws what `apply` throws; StoreFull, StoreUnavailable
 */
export async function runPendingChange<T>(
  ports: ChangePorts,
  visit: AuthorizedVisit,
  change: FileChange,
  { apply, deleteEvidence, hasNoEffect, recordAlso }: FileChangeSteps<T>,
  saveResponse: SaveResponse | null = null,
): Promise<T> {
  // Visitors must leave free space for the changes of integrators and operators.
  checkStoreSpace(ports.store, change.action === 'delete' ? 0 : ports.limits.minFreeSpace);
  const token = change.token ?? newChangeToken(ports);
  ports.runningChanges.add(token);
  try {
    const auditId = await recordPending(ports, visit, change, token, saveResponse);
    let outcome: FileChangeOutcome<T>;
    try {
      outcome = await apply({
        token,
        confirm: () => confirmPending(ports, visit.link.tid, auditId),
        recordHandle: (handle) => recordHandle(ports, visit, auditId, handle),
      });
    } catch (cause) {
      // After StorageUnavailable the change may have taken place or not: it stays pending, and recovery finds out.
      if (!(cause instanceof StorageUnavailable)) {
        await (hasNoEffect?.() ? deletePendingEntry : recordFailed)(ports, visit, auditId);
        await deleteEvidence(token).catch(() => {});
      }
      throw cause;
    }
    await recordDone(ports, visit, change, auditId, outcome, recordAlso);
    await deleteEvidence(token).catch(() => {});
    return outcome.value;
  } finally {
    ports.runningChanges.delete(token); // if the outcome could not be recorded, recovery may now process the change
  }
}
