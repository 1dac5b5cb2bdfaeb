import { bodyOf } from '#core/records/field.ts';
import { operatorFields } from '#core/records/operator.ts';
import { changeOperation } from '#features/operation.ts';

export const unlinkOperator = changeOperation({
  name: 'operator/unlinkProvider',
  method: 'POST',
  role: 'admin',
  summary:
    'Disconnects an operator from their user of the provider, and ends their console sessions. Set a password with operator/updatePassword if the operator has none.',
  message: 'operatorUnlinked',
  body: bodyOf(operatorFields, ['id'], []),
  target: { table: 'operator' },
  async change({ id }, { name }, tx, { clock }) {
    await tx
      .updateTable('operator')
      .set((row) => ({
        provider_subject: null,
        is_managed: 0,
        session_epoch: row('session_epoch', '+', 1),
        version: row('version', '+', 1),
        updated_owner: name,
        updated_at: clock.now(),
      }))
      .where('id', '=', id)
      .execute();
    return { audit: { after: { id } } };
  },
});
