import { fold } from '#core/fold.ts';
import { appendAuditEntry } from '#features/audit/audit-entry.ts';
import { clearPairFailures } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import { removeSecondFactors } from './second-factor-rows.ts';

const passwordBits = 128;

/**
 * Gives an operator who is locked out a new password, and removes their second factors. Their console sessions end. Called by a command
 * on the server, so the audit entry names no caller.
 * @returns the new password
 * @throws Error with a message for the person who runs the command, if there is no operator of that name
 */
export async function resetOperator(
  { store, clock, random, passwordHash }: Pick<Ports, 'store' | 'clock' | 'random' | 'passwordHash'>,
  tid: number,
  name: string,
): Promise<string> {
  const password = random.token(passwordBits);
  const hash = await passwordHash.hash(password, { tid });
  await store.write(async (tx) => {
    const operator = await tx
      .selectFrom('operator')
      .select(['id', 'name'])
      .where('tid', '=', tid)
      .where('name_key', '=', fold(name))
      .executeTakeFirst();
    if (!operator) throw new Error(`tenant ${tid} has no operator named ${JSON.stringify(name)}`);
    await removeSecondFactors(tx, operator.id, null, clock.now());
    await tx
      .updateTable('operator')
      .set((row) => ({
        password_hash: hash,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_at: clock.now(),
      }))
      .where('id', '=', operator.id)
      .execute();
    await clearPairFailures(tx, `operator ${tid}`, fold(name));
    await appendAuditEntry(tx, {
      ...{ tid, at: clock.now(), actor: '', actorKind: 'system', address: '', requestId: '' },
      ...{ action: 'operator/reset', outcome: 'done', share: null, path: '', bytes: null, process: null },
      ...{ before: null, after: { id: operator.id, name: operator.name } },
    });
  }, 'job');
  return password;
}
