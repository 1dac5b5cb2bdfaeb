import { Refusal } from '#core/messages.ts';
import { SecondFactorDeletion } from '#core/records/second-factor.ts';
import { changeOperation } from '#features/operation.ts';
import { checkPasswordIsCurrent } from './current-password.ts';
import { removeSecondFactors, requiresSecondFactor, selectSecondFactors, verifyOperatorPassword } from './second-factor-rows.ts';

export const deleteSecondFactor = changeOperation({
  name: 'operator/deleteSecondFactor',
  method: 'DELETE',
  role: 'reader',
  summary: 'Removes one of your second factors. If it is the last one, your recovery codes are removed too.',
  message: 'secondFactorDeleted',
  body: SecondFactorDeletion,
  check: ({ currentPassword }, caller, ports) => verifyOperatorPassword(ports, caller, currentPassword),
  async change({ id }, caller, tx, { clock }, { password_hash }) {
    await checkPasswordIsCurrent(tx, caller.id, password_hash);
    const factors = await selectSecondFactors(tx, caller.id);
    const factor = factors.find((row) => row.id === id);
    if (!factor) throw new Refusal('recordUnknown');
    if (factors.length === 1 && (await requiresSecondFactor(tx, caller.tid))) throw new Refusal('secondFactorLast');
    if (factors.length === 1) await removeSecondFactors(tx, caller.id, caller.name, clock.now());
    else await tx.deleteFrom('second_factor').where('id', '=', id).execute();
    return { audit: { before: { kind: factor.kind, title: factor.title } } };
  },
});
