import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { PasswordChange } from '#core/records/access-user.ts';
import { type Caller, changeOperation } from '#features/operation.ts';
import type { PasswordHash } from '#ports/password-hash.ts';
import type { Tx } from '#ports/store.ts';
import { accessUserRecord, checkProfile } from './access-user-rows.ts';

/**
 * Returns the id of the user with a name, in the profile `authId` if it is given, or undefined.
 * @throws Refusal 400 for an unknown profile, 409 if users of several profiles have the name
 */
async function findUserId(db: Tx, tid: number, username: string, authId: number | null | undefined): Promise<number | undefined> {
  let query = db.selectFrom('access_user').select('id').where('tid', '=', tid).where('username_key', '=', fold(username));
  if (authId) {
    await checkProfile(db, tid, 'authId', authId);
    query = query.where('profile_id', '=', authId);
  }
  const [user, secondUser] = await query.limit(2).execute();
  if (secondUser)
    throw new Refusal('userAmbiguous', undefined, { fieldErrors: [{ field: 'authId', detail: 'must name the login profile' }] });
  return user?.id;
}

const isCurrentPassword = (passwordHash: PasswordHash, { address }: Caller, hash: string | null, password: string) =>
  passwordHash.runInTurn(address, (verify) => verify(hash, password));

export const updatePassword = changeOperation({
  name: 'accessuser/updateUserPassword',
  method: 'POST',
  role: 'editor',
  summary: "Sets an access user's password, and ends the user's sessions.",
  message: 'accessUserPasswordUpdated',
  body: PasswordChange,
  target: { table: 'access_user', find: (body, caller, tx) => findUserId(tx, caller.tid, body.username, body.authId) },
  async check(body, caller, { store, passwordHash }) {
    checkNewPassword({ password: body.userPassword, confirmPassword: body.confirmPassword, name: body.username }, 'userPassword');
    const id = await findUserId(store.read, caller.tid, body.username, body.authId);
    if (id === undefined) throw new Refusal('recordUnknown');
    const { password_hash } = await store.read
      .selectFrom('access_user')
      .select('password_hash')
      .where('tid', '=', caller.tid)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (body.currentPassword && !(await isCurrentPassword(passwordHash, caller, password_hash, body.currentPassword)))
      throw new Refusal('currentPasswordWrong');
    return { id, currentHash: password_hash, newHash: await passwordHash.hash(body.userPassword, caller) };
  },
  async change(body, caller, tx, { clock }, checked) {
    const id = await findUserId(tx, caller.tid, body.username, body.authId);
    const user = await tx
      .selectFrom('access_user')
      .select('password_hash')
      .where('tid', '=', caller.tid)
      .where('id', '=', id ?? 0)
      .executeTakeFirst();
    if (id !== checked.id || !user) throw new Refusal('recordUnknown');
    // Another request has changed the password since check() verified the current one.
    if (body.currentPassword && user.password_hash !== checked.currentHash) throw new Refusal('currentPasswordWrong');
    const before = await accessUserRecord(tx, caller.tid, id);
    await tx
      .updateTable('access_user')
      .set((row) => ({
        password_hash: checked.newHash,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', id)
      .execute();
    return { audit: { before, after: await accessUserRecord(tx, caller.tid, id) } };
  },
});
