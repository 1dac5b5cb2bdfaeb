import { bodyOf } from '#core/records/field.ts';
import { shareFields } from '#core/records/share.ts';
import { releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { deleteUnusedLinkProfile } from './link-password.ts';
import { shareAuditFields, shareRecord } from './share-rows.ts';

/**
 * Ends the unfinished uploads at a share. A job deletes the received bytes. Quotas stop counting an upload at once or, if a part of it
 * is arriving, at the end of that part.
 * @param now ms since the epoch
 */
async function endUploadsOf(tx: Tx, tid: number, shareId: number, now: number): Promise<void> {
  await tx
    .updateTable('resumable_upload')
    .set({ expires_at: now })
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .where('stored_name', 'is', null)
    .execute();
}

export const deleteShare = changeOperation({
  name: 'share/delete',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes a share and its link. The files are not deleted.',
  message: 'shareDeleted',
  body: bodyOf(shareFields, ['id'], []),
  target: { table: 'share' },
  async change({ id }, caller, tx, { links, clock }) {
    const before = await shareRecord(tx, caller.tid, id, links);
    await releaseViewId(tx, before.viewId);
    await endUploadsOf(tx, caller.tid, id, clock.now());
    await tx.deleteFrom('share').where('tid', '=', caller.tid).where('id', '=', id).execute();
    await deleteUnusedLinkProfile(tx, caller.tid, before.authenticationId);
    return { audit: { before, share: shareAuditFields(before) } };
  },
});
