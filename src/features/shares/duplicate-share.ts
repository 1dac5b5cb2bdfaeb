import { shareUrl } from '#core/link.ts';
import { bodyOf } from '#core/records/field.ts';
import { requiresSignIn } from '#core/records/login-profile.ts';
import { shareFields } from '#core/records/share.ts';
import { normalizeText } from '#core/unicode.ts';
import { claimNewViewId, newViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { checkPolicy } from '#features/records/check-policy.ts';
import { createdShareFields } from './add-share.ts';
import { shareSearchText } from './share-body.ts';
import { copyNames } from './share-names.ts';
import { findShareProfile, shareAuditFields, shareRecord } from './share-rows.ts';

export const duplicateShare = changeOperation({
  name: 'share/duplicate',
  method: 'POST',
  role: 'editor',
  summary: 'Copies a share under a new title. The copy has its own link.',
  message: 'shareDuplicated',
  body: bodyOf(shareFields, ['id', 'title'], []),
  responseFields: createdShareFields,
  target: { table: 'share' },
  async change(body, caller, tx, { clock, random, links }) {
    const { tid } = caller;
    const { id: _, ...original } = await tx
      .selectFrom('share')
      .selectAll()
      .where('tid', '=', tid)
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    const { type_id } = await findShareProfile(tx, tid, original.profile_id);
    const validity = { active: original.active === 1, from: original.valid_from, to: original.valid_to };
    await checkPolicy(tx, tid, { ...validity, requiresSignIn: requiresSignIn(type_id) }, clock.now());
    const [now, viewId, title] = [clock.now(), newViewId(random), normalizeText(body.title)];
    const { id } = await tx
      .insertInto('share')
      .values({
        ...original,
        title,
        view_id: viewId,
        version: 1,
        created_owner: caller.name,
        updated_owner: caller.name,
        created_at: now,
        updated_at: now,
        search_text: shareSearchText({ ...original, title, view_id: viewId }),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await claimNewViewId(tx, tid, viewId, { share_id: id });
    await copyNames(tx, tid, body.id, id);
    const after = await shareRecord(tx, tid, id, links);
    return { created: { id, viewId, viewUrl: shareUrl(links.publicUrl(), viewId) }, audit: { after, share: shareAuditFields(after) } };
  },
});
