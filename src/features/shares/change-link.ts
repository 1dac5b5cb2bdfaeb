import Type from 'typebox';
import { shareUrl } from '#core/link.ts';
import { bodyOf } from '#core/records/field.ts';
import { shareFields } from '#core/records/share.ts';
import { checkViewId, checkViewIdLength, claimViewId, newViewId, releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { shareSearchText } from './share-body.ts';
import { shareAuditFields, shareRecord } from './share-rows.ts';

export const changeLink = changeOperation({
  name: 'share/updateSharableLink',
  method: 'POST',
  role: 'editor',
  summary: 'Replaces the link. The old address stops working at once. Without a viewId, a random one is generated.',
  message: 'shareLinkUpdated',
  body: bodyOf(shareFields, [], ['id', 'viewId']),
  responseFields: Type.Object({ viewId: shareFields.viewId, viewUrl: shareFields.viewUrl }),
  target: { table: 'share' },
  async change(body, caller, tx, { clock, random, links }) {
    const before = await shareRecord(tx, caller.tid, body.id ?? 0, links);
    const viewId = body.viewId || newViewId(random);
    checkViewId(viewId);
    checkViewIdLength(viewId, before.authTypeId);
    await releaseViewId(tx, before.viewId);
    await claimViewId(tx, caller.tid, viewId, { share_id: before.id });
    await tx
      .updateTable('share')
      .set((row) => ({
        view_id: viewId,
        search_text: shareSearchText({ title: before.title, description: before.description, path: before.path, view_id: viewId }),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    const after = await shareRecord(tx, caller.tid, before.id, links);
    return { created: { viewId, viewUrl: shareUrl(links.publicUrl(), viewId) }, audit: { before, after, share: shareAuditFields(after) } };
  },
});
