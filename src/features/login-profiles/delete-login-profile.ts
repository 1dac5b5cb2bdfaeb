import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { loginProfileFields } from '#core/records/login-profile.ts';
import { releaseViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { defaultProfileId, loginProfileRecord } from './login-profile-rows.ts';

export const deleteLoginProfile = changeOperation({
  name: 'loginprofile/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes a login profile that no share and no access user refers to. The default login profile cannot be deleted.',
  message: 'loginProfileDeleted',
  body: bodyOf(loginProfileFields, [], ['id']),
  target: { table: 'login_profile' },
  async change({ id }, caller, tx, ports) {
    const before = await loginProfileRecord(tx, caller.tid, id ?? 0, ports);
    const { shareCount, userCount } = before;
    if (before.id === (await defaultProfileId(tx, caller.tid)))
      throw new Refusal(
        'profileDefault',
        'The default login profile cannot be deleted: loginprofile/makeDefault makes another one the default.',
      );
    if (shareCount + userCount > 0)
      throw new Refusal('profileInUse', `The login profile is still in use. Shares: ${shareCount}. Access users: ${userCount}.`);
    await releaseViewId(tx, before.viewId);
    await tx.deleteFrom('known_network').where('tid', '=', caller.tid).where('profile_id', '=', before.id).execute();
    await tx.deleteFrom('used_statement').where('tid', '=', caller.tid).where('profile_id', '=', before.id).execute();
    await tx.deleteFrom('login_profile').where('tid', '=', caller.tid).where('id', '=', before.id).execute();
    return { audit: { before } };
  },
});
