import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { accessUserFields } from '#core/records/access-user.ts';
import { bodyOf } from '#core/records/field.ts';
import { type Caller, type Changed, change } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { accessUserRecord } from './access-user-rows.ts';

/** The name goes from the shares that list it, and sessions end: the foreign keys and triggers see to it. */
async function remove(id: number, caller: Caller, tx: Tx): Promise<Changed> {
  const before = await accessUserRecord(tx, caller.tid, id);
  await tx.deleteFrom('access_user').where('id', '=', id).execute();
  return { trail: { before } };
}

export const deleteAccessUser = change({
  name: 'accessuser/delete',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes an access user, and its name from the shares that list it.',
  says: 'accessUserDeleted',
  body: bodyOf(accessUserFields, [], ['id']),
  target: { table: 'access_user' },
  change: ({ id }, caller, tx) => remove(id ?? 0, caller, tx),
});

const byName = Type.Object(
  { username: accessUserFields.username, loginProfileId: accessUserFields.authId },
  { additionalProperties: false },
);

const userNamed = (tx: Tx, tid: number, profileId: number, username: string) =>
  tx
    .selectFrom('access_user')
    .select('id')
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where('username_key', '=', fold(username))
    .executeTakeFirst();

export const deleteByUsername = change({
  name: 'accessuser/deleteByUsername',
  method: 'DELETE',
  role: 'editor',
  summary: 'Deletes an access user by its name.',
  says: 'accessUserDeleted',
  body: byName,
  target: {
    table: 'access_user',
    find: async (body, caller, tx) => (await userNamed(tx, caller.tid, body.loginProfileId, body.username))?.id,
  },
  async change(body, caller, tx) {
    const found = await userNamed(tx, caller.tid, body.loginProfileId, body.username);
    return remove(found?.id ?? 0, caller, tx);
  },
});
