import { Refusal } from '#core/messages.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import { checkQuota } from '#features/quotas/check-quota.ts';
import { claimOf } from '#features/quotas/used-space.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { isBeingPlaced, isFree, type UploadRow } from './upload-rows.ts';
import { type UploadWriters, uploadInUse } from './upload-writers.ts';

// A process claims an upload while it receives a part of it, so that no other process receives a part at the
// same time.

type ClaimPorts = Pick<Ports, 'store' | 'process' | 'clock'> & Pick<VisitServices, 'uploadWriters'>;
type ClaimedUpload = Pick<UploadRow, 'tid' | 'id'>;

/** Returns whether a process has claimed an upload. The process may have ended since. */
async function hasHolder(tx: Tx, { tid, id }: ClaimedUpload): Promise<boolean> {
  const row = await tx.selectFrom('resumable_upload').select('holder').where('tid', '=', tid).where('id', '=', id).executeTakeFirst();
  return (row?.holder ?? null) !== null;
}

/**
 * Claims an upload for this process.
 * @returns its row as it is now
 * @throws Refusal (423) if another process receives a part, the file of the upload is being put in place, or the upload was completed or
 *   deleted meanwhile; (507) if a quota is used up
 */
export async function claimUpload(
  ports: ClaimPorts,
  { link, visitorRequest }: Pick<AuthorizedVisit, 'link' | 'visitorRequest'>,
  { id, token, size, received }: UploadRow,
): Promise<UploadRow> {
  const { tid } = link;
  const runningProcesses = await findRunningProcesses(ports);
  const claimedRow = await ports.store
    .write(async (tx) => {
      if (await isBeingPlaced(tx, tid, token)) return;
      // If the process that received the last part was killed, its claim is still in the row.
      const claimedBytes = claimOf(size, received, await hasHolder(tx, { tid, id }));
      await checkQuota(tx, link, { bytes: claimOf(size, received, true) - claimedBytes, files: 0 }, ports.clock.now());
      return tx
        .updateTable('resumable_upload')
        .set({ holder: ports.process })
        .where('tid', '=', tid)
        .where('id', '=', id)
        .where('stored_name', 'is', null)
        .where(isFree(ports.process, runningProcesses))
        .returningAll()
        .executeTakeFirst();
    }, visitorTurn(visitorRequest.address))
    .catch((cause: unknown) => {
      if (!(cause instanceof Refusal)) ports.uploadWriters.unreleasedClaims.set(id, tid); // the claim may have taken place
      throw cause;
    });
  if (!claimedRow) throw uploadInUse();
  return claimedRow;
}

async function deleteClaim({ store, process }: Pick<Ports, 'store' | 'process'>, { tid, id }: ClaimedUpload): Promise<void> {
  await store.write(
    (tx) =>
      tx
        .updateTable('resumable_upload')
        .set({ holder: null })
        .where('tid', '=', tid)
        .where('id', '=', id)
        .where('holder', '=', process)
        .execute(),
    'job',
  );
}

/** Ends the claim of this process. If that fails, `releaseUploads` tries again. */
export async function releaseUpload(ports: ClaimPorts, { tid, id }: ClaimedUpload): Promise<void> {
  const { unreleasedClaims: unreleased } = ports.uploadWriters;
  try {
    await deleteClaim(ports, { tid, id });
    unreleased.delete(id);
  } catch {
    unreleased.set(id, tid);
  }
}

/** Ends the claims that could not be ended, and those that a failed write may have left. @throws StoreUnavailable */
export async function releaseUploads(ports: Pick<Ports, 'store' | 'process'>, uploadWriters: UploadWriters): Promise<void> {
  for (const [id, tid] of uploadWriters.unreleasedClaims) {
    if (uploadWriters.isReceiving(id)) continue; // the end of the part ends the claim
    await uploadWriters.runWithoutParts(id, () => deleteClaim(ports, { tid, id }));
    uploadWriters.unreleasedClaims.delete(id);
  }
}
