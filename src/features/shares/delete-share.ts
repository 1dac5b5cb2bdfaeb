import { bodyOf } from '#core/records/field.ts';
import { shareFields } from '#core/records/share.ts';
import { releaseViewId } from '#features/links/view-ids.ts';
import { change } from '#features/operation.ts';
import { dropLinkProfile } from './link-password.ts';
import { auditedShare, shareRecord } from './share-rows.ts';

export const deleteShare = change({
  name: 'share/delete',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes a share and its link, never the files.',
  message: 'shareDeleted',
  body: bodyOf(shareFields, ['id'], []),
  target: { table: 'share' },
  async change({ id }, caller, tx, { links }) {
    const before = await shareRecord(tx, caller.tid, id, links);
    await releaseViewId(tx, before.viewId);
    await tx.deleteFrom('share').where('tid', '=', caller.tid).where('id', '=', id).execute();
    await dropLinkProfile(tx, caller.tid, before.authenticationId);
    return { audit: { before, share: auditedShare(before) } };
  },
});
