import { bodyOf } from '#core/records/field.ts';
import { loginProfileFields } from '#core/records/login-profile.ts';
import { changeOperation } from '#features/operation.ts';
import { defaultProfileId } from './login-profile-rows.ts';

export const makeDefault = changeOperation({
  name: 'loginprofile/makeDefault',
  method: 'POST',
  role: 'admin',
  summary: 'Makes a login profile the default for accessuser/add and addMany without an authId, and for loginprofile/get without an id.',
  message: 'loginProfileMadeDefault',
  body: bodyOf(loginProfileFields, ['id'], []),
  target: { table: 'login_profile' },
  async change({ id }, caller, tx) {
    const before = await defaultProfileId(tx, caller.tid);
    await tx.updateTable('tenant').set({ default_profile_id: id }).where('id', '=', caller.tid).execute();
    return { audit: { before: { defaultProfileId: before }, after: { defaultProfileId: id } } };
  },
});
