import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { accessUserFields, NewAccessUser } from '#core/records/access-user.ts';
import { keepsUsers } from '#core/records/login-profile.ts';
import { change } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { accessUserRecord, checkFree, searchText } from './access-user-rows.ts';

/** The profile that a body names, else the tenant's default. @throws 400 at authId */
async function profileFor(tx: Tx, tid: number, authId: number | null | undefined) {
  const profiles = tx.selectFrom('login_profile').select(['id', 'type_id']).where('tid', '=', tid);
  const named =
    authId ??
    (await tx.selectFrom('tenant').select('default_profile_id').where('id', '=', tid).executeTakeFirstOrThrow()).default_profile_id;
  const found = await profiles.where('id', '=', named ?? 0).executeTakeFirst();
  if (!found) throw fieldRefusal('authId', 'is not the id of a login profile');
  return found;
}

export const addAccessUser = change({
  name: 'accessuser/add',
  method: 'POST',
  role: 'editor',
  summary: 'Adds an access user; accessuser/updateUserPassword gives it a password.',
  says: 'accessUserAdded',
  body: NewAccessUser,
  answers: Type.Object({ id: accessUserFields.id }),
  async change(body, caller, tx, { clock }) {
    const profile = await profileFor(tx, caller.tid, body.authId);
    const nfc = (text: string | null | undefined) => (text ?? '').normalize('NFC');
    const user = { username: nfc(body.username), first_name: nfc(body.firstName), last_name: nfc(body.lastName), email: nfc(body.email) };
    await checkFree(tx, caller.tid, profile, user);
    const now = clock.now();
    const { id } = await tx
      .insertInto('access_user')
      .values({
        ...user,
        tid: caller.tid,
        version: 1,
        profile_id: profile.id,
        username_key: fold(user.username),
        email_key: fold(user.email),
        password_hash: null,
        active: body.active ? 1 : 0,
        session_epoch: 1,
        search_text: searchText(user),
        created_owner: caller.name,
        updated_owner: caller.name,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const after = await accessUserRecord(tx, caller.tid, id);
    return { fresh: { id }, says: keepsUsers(profile.type_id) ? 'accessUserAdded' : 'accessUserAddedUnused', trail: { after } };
  },
});
