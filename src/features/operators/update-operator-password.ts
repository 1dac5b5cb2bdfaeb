import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { OperatorPassword } from '#core/records/operator.ts';
import { type Caller, change } from '#features/operation.ts';
import { operatorRecord } from './operator-rows.ts';

const isOwn = (caller: Caller, id: number) => caller.kind === 'operator' && caller.id === id;

/** One's own password takes the one so far; another's, the role admin. */
function checkRight(caller: Caller, { id, currentPassword }: OperatorPassword): void {
  if (isOwn(caller, id)) {
    if (!currentPassword) throw fieldRefusal('currentPassword', 'is required to change your own password');
  } else if (caller.role !== 'admin') throw new Refusal('roleTooLow', "Only an admin sets another operator's password.");
}

export const updateOperatorPassword = change({
  name: 'operator/updatePassword',
  method: 'POST',
  role: 'reader',
  summary: "Sets one's own password, or, as admin, an operator's; their sessions of the console end.",
  says: 'operatorPasswordUpdated',
  body: OperatorPassword,
  target: { table: 'operator' },
  async check(body, caller, { store, passwordHash }) {
    checkRight(caller, body);
    const { name, password_hash } = await store.read
      .selectFrom('operator')
      .select(['name', 'password_hash'])
      .where('tid', '=', caller.tid)
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    checkNewPassword({ ...body, name }, 'password');
    if (body.currentPassword && !(await passwordHash.verify(password_hash, body.currentPassword)))
      throw new Refusal('currentPasswordWrong');
    return { from: password_hash, hash: await passwordHash.hash(body.password) };
  },
  async change(body, caller, tx, { clock }, seen) {
    const before = await operatorRecord(tx, caller.tid, body.id);
    const updated = await tx
      .updateTable('operator')
      .set((row) => ({
        password_hash: seen.hash,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', body.id)
      .where('password_hash', '=', seen.from)
      .executeTakeFirst();
    // Another request has set a password since the current one was compared.
    if (updated.numUpdatedRows === 0n) throw new Refusal('currentPasswordWrong');
    return { trail: { before, after: await operatorRecord(tx, caller.tid, body.id) } };
  },
});
