import { fold } from '#core/fold.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import { OperatorPassword } from '#core/records/operator.ts';
import { type Caller, change } from '#features/operation.ts';
import { networkKeys, pairKey, verifyCounted } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import { operatorRecord } from './operator-rows.ts';

const isOwn = (caller: Caller, id: number) => caller.kind === 'operator' && caller.id === id;

/** One's own password takes the one so far; another's, the role admin. */
function checkRight(caller: Caller, { id, currentPassword }: OperatorPassword): void {
  if (isOwn(caller, id)) {
    if (!currentPassword) throw fieldRefusal('currentPassword', 'is required to change your own password');
  } else if (caller.role !== 'admin') throw new Refusal('roleTooLow', "Only an admin sets another operator's password.");
}

/** A guess at the password so far is an attempt to sign in, dry run or not: it counts, and waits, as one. */
async function checkCurrent(ports: Ports, { tid, address }: Caller, name: string, hash: string, password: string): Promise<void> {
  const pair = pairKey(`operator ${tid}`, fold(name), address);
  try {
    await ports.passwordHash.inTurn(address, (verify) =>
      verifyCounted(ports, pair, networkKeys('operator', address), async () => (await verify(hash, password)) || null),
    );
  } catch (cause) {
    throw cause instanceof Refusal && cause.messageName === 'signInWrong' ? new Refusal('currentPasswordWrong') : cause;
  }
}

export const updateOperatorPassword = change({
  name: 'operator/updatePassword',
  method: 'POST',
  role: 'reader',
  summary: "Sets one's own password, or, as admin, an operator's; their sessions of the console end.",
  message: 'operatorPasswordUpdated',
  body: OperatorPassword,
  target: { table: 'operator' },
  async check(body, caller, ports) {
    const { store, passwordHash } = ports;
    checkRight(caller, body);
    const { name, password_hash } = await store.read
      .selectFrom('operator')
      .select(['name', 'password_hash'])
      .where('tid', '=', caller.tid)
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    checkNewPassword({ ...body, name }, 'password');
    if (body.currentPassword) await checkCurrent(ports, caller, name, password_hash, body.currentPassword);
    return { from: password_hash, hash: await passwordHash.hash(body.password, caller) };
  },
  async change(body, caller, tx, { clock }, seen) {
    const before = await operatorRecord(tx, caller.tid, body.id);
    // Another request has set a password since the current one was compared.
    const unseen = body.currentPassword ? seen.from : null;
    const row = await tx.selectFrom('operator').select('password_hash').where('id', '=', body.id).executeTakeFirstOrThrow();
    if (unseen !== null && row.password_hash !== unseen) throw new Refusal('currentPasswordWrong');
    await tx
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
      .execute();
    return { audit: { before, after: await operatorRecord(tx, caller.tid, body.id) } };
  },
});
