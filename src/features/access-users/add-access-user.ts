import Type from 'typebox';
import { accessUserFields, NewAccessUser, storedUserFields } from '#core/records/access-user.ts';
import { hasAccessUsers } from '#core/records/login-profile.ts';
import { changeOperation } from '#features/operation.ts';
import { accessUserRecord, checkUserUnique } from './access-user-rows.ts';
import { findProfileForNewUser, insertAccessUsers } from './insert-access-users.ts';

export const addAccessUser = changeOperation({
  name: 'accessuser/add',
  method: 'POST',
  role: 'editor',
  summary: 'Adds an access user without a password. Set the password with accessuser/updateUserPassword.',
  message: 'accessUserAdded',
  body: NewAccessUser,
  responseFields: Type.Object({ id: accessUserFields.id }),
  async change(body, caller, tx, { clock }) {
    const profile = await findProfileForNewUser(tx, caller.tid, body.authId);
    const user = storedUserFields.toNewColumns(body);
    await checkUserUnique(tx, caller.tid, profile, user);
    const [id = 0] = await insertAccessUsers(tx, {
      users: [user],
      tid: caller.tid,
      profileId: profile.id,
      owner: caller.name,
      now: clock.now(),
    });
    const after = await accessUserRecord(tx, caller.tid, id);
    return { created: { id }, message: hasAccessUsers(profile.type_id) ? 'accessUserAdded' : 'accessUserAddedUnused', audit: { after } };
  },
});
