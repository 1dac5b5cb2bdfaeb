import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { OperatorPassword } from '#core/records/operator.ts';
import { type Caller, changeOperation } from '#features/operation.ts';
import { checkPasswordIsCurrent, verifyCurrentPassword } from './current-password.ts';
import { operatorRecord } from './operator-rows.ts';

const isSelf = (caller: Caller, id: number) => caller.kind === 'operator' && caller.id === id;

/**
 * Checks that operators send their current password to change their own, and that only admins set the password of another operator.
 */
function checkPermission(caller: Caller, { id, currentPassword }: OperatorPassword): void {
  if (isSelf(caller, id)) {
    if (!currentPassword) throw fieldRefusal('currentPassword', 'is required to change your own password');
  } else if (caller.role !== 'admin') throw new Refusal('roleTooLow', "Only an admin can set another operator's password.");
}

export const updateOperatorPassword = changeOperation({
  name: 'operator/updatePassword',
  method: 'POST',
  role: 'reader',
  summary: "Sets your own password or, as an admin, another operator's. All console sessions of the operator whose password is set end.",
  message: 'operatorPasswordUpdated',
  body: OperatorPassword,
  target: { table: 'operator' },
  async check(body, caller, ports) {
    const { store, passwordHash } = ports;
    checkPermission(caller, body);
    const { name, password_hash } = await store.read
      .selectFrom('operator')
      .select(['name', 'password_hash'])
      .where('tid', '=', caller.tid)
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    checkNewPassword({ ...body, name }, 'password');
    if (body.currentPassword) await verifyCurrentPassword(ports, caller, name, password_hash, body.currentPassword);
    return { currentHash: password_hash, newHash: await passwordHash.hash(body.password, caller) };
  },
  async change(body, caller, tx, { clock }, checked) {
    const before = await operatorRecord(tx, caller.tid, body.id);
    if (body.currentPassword) await checkPasswordIsCurrent(tx, body.id, checked.currentHash);
    await tx
      .updateTable('operator')
      .set((row) => ({
        password_hash: checked.newHash,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', body.id)
      .execute();
    return { audit: { before, after: await operatorRecord(tx, caller.tid, body.id) } };
  },
});
