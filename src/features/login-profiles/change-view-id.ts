import Type from 'typebox';
import { portalUrl } from '#core/link.ts';
import { bodyOf } from '#core/records/field.ts';
import { loginProfileFields } from '#core/records/login-profile.ts';
import { checkViewId, claimViewId, newViewId, releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { loginProfileRecord } from './login-profile-rows.ts';

export const changeViewId = changeOperation({
  name: 'loginprofile/updateViewId',
  method: 'POST',
  role: 'admin',
  summary:
    "Replaces the portal's address. The old address stops working at once, and all sessions of the profile end. Without a viewId, a random one is generated.",
  message: 'loginProfileViewIdUpdated',
  body: bodyOf(loginProfileFields, [], ['id', 'viewId']),
  responseFields: Type.Object({ viewId: loginProfileFields.viewId, viewUrl: loginProfileFields.viewUrl }),
  target: { table: 'login_profile' },
  async change(body, caller, tx, ports) {
    const before = await loginProfileRecord(tx, caller.tid, body.id ?? 0, ports);
    const viewId = body.viewId || newViewId(ports.random);
    checkViewId(viewId);
    await releaseViewId(tx, before.viewId);
    await claimViewId(tx, caller.tid, viewId, { profile_id: before.id });
    await tx
      .updateTable('login_profile')
      .set((row) => ({
        view_id: viewId,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: ports.clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    const after = await loginProfileRecord(tx, caller.tid, before.id, ports);
    return { created: { viewId, viewUrl: portalUrl(ports.links.publicUrl(), viewId) }, audit: { before, after } };
  },
});
