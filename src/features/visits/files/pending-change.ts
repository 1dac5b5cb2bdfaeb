import { checkStoreSpace } from '#features/health/check-store-space.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { isTemporaryStoreError } from '#ports/store.ts';
import type { FileChange, FileChangeOutcome, FileChangeSteps, SaveResponse } from './file-change.ts';
import { NamesHeldTooLong } from './held-names.ts';
import { checkPendingChanges } from './pending-limit.ts';
import { confirmPending, deletePendingEntry, recordDone, recordFailed, recordHandle, recordPending } from './pending-records.ts';
import { EarlierChangePending } from './record-earlier-changes.ts';

const tokenBits = 96;
export const newChangeToken = ({ random }: Pick<Ports, 'random'>) => random.token(tokenBits);

export type ChangePorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'random' | 'process' | 'limits'> &
  Pick<VisitServices, 'runningChanges'>;

/**
 * Returns whether a change may have taken place, or stopped halfway, although it has thrown an error: because the storage does not respond,
 * the database has failed, or another process has begun to recover the change. Such a change stays pending, and recovery finds out.
 */
function isUnclear(cause: unknown): boolean {
  if (cause instanceof NamesHeldTooLong || cause instanceof EarlierChangePending) return false; // the change has not begun
  return cause instanceof StorageUnavailable || isTemporaryStoreError(cause);
}

/**
 * Records a change as pending, makes it, and commits its outcome and its alert together before the response. Another process, or
 * the next start, recovers a change that a crash interrupted.
 * @throws Refusal (503) if too many changes are pending at the location; (507) if the change exceeds a quota; what `apply` and
 *   `saveResponse` throw; StoreFull, StoreUnavailable
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
  await checkPendingChanges(ports, visit.link);
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
      if (!isUnclear(cause) && (await (hasNoEffect?.() ? deletePendingEntry : recordFailed)(ports, visit, auditId)))
        await deleteEvidence(token).catch(() => {});
      throw cause;
    }
    await recordDone(ports, visit, change, auditId, outcome, recordAlso);
    await deleteEvidence(token).catch(() => {});
    return outcome.value;
  } finally {
    ports.runningChanges.delete(token); // if the outcome could not be recorded, recovery may now process the change
  }
}
