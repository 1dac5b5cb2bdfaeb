import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { AccessUserChange, accessUserFields, storedUserFields } from '#core/records/access-user.ts';
import { findsUsersByEmail } from '#core/records/login-profile.ts';
import { changeOperation } from '#features/operation.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import { accessUserRecord, accessUserSearchText, checkUserUnique } from './access-user-rows.ts';

const fixedFields = { username: 'cannot be changed; add another user' };

export const updateAccessUser = changeOperation({
  name: 'accessuser/update',
  method: 'POST',
  role: 'editor',
  summary:
    'Changes an access user. Another authId moves the user to that profile: shares with a login profile of type USERS no longer list the user; shares whose login profile has another type keep the name in userNames.',
  message: 'accessUserUpdated',
  body: withFixedFields(AccessUserChange, accessUserFields, fixedFields),
  computed: ['createdOwner', 'updatedOwner', 'createDateTime', 'updateDateTime', 'loginProfileName', 'authTypeId', 'authTypeStr', 'etag'],
  target: { table: 'access_user' },
  async change(body, caller, tx, { clock }) {
    const before = await accessUserRecord(tx, caller.tid, body.id);
    checkFixedFields(body, before, fixedFields);
    const profile = await tx
      .selectFrom('login_profile')
      .select(['id', 'type_id'])
      .where('tid', '=', caller.tid)
      .where('id', '=', body.authId)
      .executeTakeFirst();
    if (!profile) throw fieldRefusal('authId', 'is not the id of a login profile');
    const user = { ...storedUserFields.toNewColumns(before), ...storedUserFields.toColumns(body) };
    await checkUserUnique(tx, caller.tid, profile, { ...user, id: before.id });
    const isMoved = profile.id !== before.authId;
    const hasNewAddress = findsUsersByEmail(profile.type_id) && fold(user.email) !== fold(before.email);
    const endsSessions = isMoved || hasNewAddress || (before.active && user.active === 0);
    await tx
      .updateTable('access_user')
      .set((row) => ({
        ...user,
        email_key: fold(user.email),
        profile_id: profile.id,
        search_text: accessUserSearchText(user),
        session_epoch: row('session_epoch', '+', endsSessions ? 1 : 0),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    return { audit: { before, after: await accessUserRecord(tx, caller.tid, before.id) } };
  },
});
