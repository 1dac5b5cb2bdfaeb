import Type from 'typebox';
import { accessUserFields, NewAccessUser } from '#core/records/access-user.ts';
import { keepsUsers } from '#core/records/login-profile.ts';
import { change } from '#features/operation.ts';
import { accessUserRecord, checkFree } from './access-user-rows.ts';
import { insertAccessUsers, newUser, profileForNew } from './insert-access-users.ts';

export const addAccessUser = change({
  name: 'accessuser/add',
  method: 'POST',
  role: 'editor',
  summary: 'Adds an access user; accessuser/updateUserPassword gives it a password.',
  message: 'accessUserAdded',
  body: NewAccessUser,
  responseFields: Type.Object({ id: accessUserFields.id }),
  async change(body, caller, tx, { clock }) {
    const profile = await profileForNew(tx, caller.tid, body.authId);
    const user = newUser(body);
    await checkFree(tx, caller.tid, profile, user);
    const [id = 0] = await insertAccessUsers(tx, {
      users: [user],
      tid: caller.tid,
      profileId: profile.id,
      owner: caller.name,
      now: clock.now(),
    });
    const after = await accessUserRecord(tx, caller.tid, id);
    return { created: { id }, message: keepsUsers(profile.type_id) ? 'accessUserAdded' : 'accessUserAddedUnused', audit: { after } };
  },
});
