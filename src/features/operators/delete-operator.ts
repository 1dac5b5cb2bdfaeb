import { bodyOf } from '#core/records/field.ts';
import { operatorFields } from '#core/records/operator.ts';
import { changeOperation } from '#features/operation.ts';
import { checkAdminRemains, operatorRecord } from './operator-rows.ts';

export const deleteOperator = changeOperation({
  name: 'operator/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes an operator. Their console sessions end at once.',
  message: 'operatorDeleted',
  body: bodyOf(operatorFields, ['id'], []),
  target: { table: 'operator' },
  async change({ id }, caller, tx) {
    const before = await operatorRecord(tx, caller.tid, id);
    if (before.role === 'admin') await checkAdminRemains(tx, caller.tid, id);
    await tx.deleteFrom('operator').where('tid', '=', caller.tid).where('id', '=', id).execute();
    return { audit: { before } };
  },
});
