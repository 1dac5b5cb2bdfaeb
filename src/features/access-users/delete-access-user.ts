import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { accessUserFields } from '#core/records/access-user.ts';
import { bodyOf } from '#core/records/field.ts';
import { type Caller, type ChangeResult, changeOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { accessUserRecord, checkProfile } from './access-user-rows.ts';

/**
 * Deletes a user. Foreign keys delete the user's sessions, and the user's entries in lists that refer to users by id (`listsUsersById`). A
 * trigger increments the versions of the shares with such an entry (`shareVersion`).
 */
async function deleteUser(id: number, caller: Caller, tx: Tx): Promise<ChangeResult> {
  const before = await accessUserRecord(tx, caller.tid, id);
  await tx.deleteFrom('access_user').where('tid', '=', caller.tid).where('id', '=', id).execute();
  return { audit: { before } };
}

export const deleteAccessUser = changeOperation({
  name: 'accessuser/delete',
  method: 'DELETE',
  role: 'editor',
  summary:
    'Deletes an access user. Shares with a login profile of type USERS no longer list the user; shares whose login profile has another type keep the name in userNames.',
  message: 'accessUserDeleted',
  body: bodyOf(accessUserFields, [], ['id']),
  target: { table: 'access_user' },
  change: ({ id }, caller, tx) => deleteUser(id ?? 0, caller, tx),
});

const UsernameBody = Type.Object(
  { username: accessUserFields.username, loginProfileId: accessUserFields.authId },
  { additionalProperties: false },
);

async function findUserId(tx: Tx, tid: number, profileId: number, username: string): Promise<number | undefined> {
  await checkProfile(tx, tid, 'loginProfileId', profileId);
  const query = tx
    .selectFrom('access_user')
    .select('id')
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where('username_key', '=', fold(username));
  return (await query.executeTakeFirst())?.id;
}

export const deleteAccessUserByUsername = changeOperation({
  name: 'accessuser/deleteByUsername',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes an access user by user name.',
  message: 'accessUserDeleted',
  body: UsernameBody,
  target: {
    table: 'access_user',
    find: (body, caller, tx) => findUserId(tx, caller.tid, body.loginProfileId, body.username),
  },
  async change(body, caller, tx) {
    return deleteUser((await findUserId(tx, caller.tid, body.loginProfileId, body.username)) ?? 0, caller, tx);
  },
});
