import { bodyOf } from '#core/records/field.ts';
import { operatorFields } from '#core/records/operator.ts';
import { changeOperation } from '#features/operation.ts';
import { removeSecondFactors, selectSecondFactors } from './second-factor-rows.ts';

export const resetSecondFactors = changeOperation({
  name: 'operator/resetSecondFactors',
  method: 'POST',
  role: 'admin',
  summary: 'Removes all second factors of an operator who has lost them. Their console sessions end.',
  message: 'secondFactorsReset',
  body: bodyOf(operatorFields, ['id'], []),
  target: { table: 'operator' },
  async change({ id }, { name }, tx, { clock }) {
    const before = (await selectSecondFactors(tx, id)).map(({ kind, title }) => ({ kind, title }));
    await removeSecondFactors(tx, id, name, clock.now());
    await tx
      .updateTable('operator')
      .set((row) => ({ session_epoch: row('session_epoch', '+', 1) }))
      .where('id', '=', id)
      .execute();
    return { audit: { before: { secondFactors: before } } };
  },
});
