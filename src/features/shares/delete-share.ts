import { bodyOf } from '#core/records/field.ts';
import { shareFields } from '#core/records/share.ts';
import { releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { deleteUnusedLinkProfile } from './link-password.ts';
import { shareAuditFields, shareRecord } from './share-rows.ts';

export const deleteShare = changeOperation({
  name: 'share/delete',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes a share and its link. The files are not deleted.',
  message: 'shareDeleted',
  body: bodyOf(shareFields, ['id'], []),
  target: { table: 'share' },
  async change({ id }, caller, tx, { links }) {
    const before = await shareRecord(tx, caller.tid, id, links);
    await releaseViewId(tx, before.viewId);
    await tx.deleteFrom('share').where('tid', '=', caller.tid).where('id', '=', id).execute();
    await deleteUnusedLinkProfile(tx, caller.tid, before.authenticationId);
    return { audit: { before, share: shareAuditFields(before) } };
  },
});
