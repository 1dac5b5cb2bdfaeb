import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { OperatorChange, operatorFields } from '#core/records/operator.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import { checkAdminRemains, checkOperatorName, operatorRecord } from './operator-rows.ts';

const fixedFields = { tid: 'cannot be changed' };

export const updateOperator = changeOperation({
  name: 'operator/update',
  method: 'POST',
  role: 'admin',
  summary: "Changes an operator's name or role.",
  message: 'operatorUpdated',
  body: withFixedFields(OperatorChange, operatorFields, fixedFields),
  computed: [
    'signsInAtProvider',
    'roleFromProvider',
    'hasSecondFactor',
    'lastSignInDateTime',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'etag',
  ],
  target: { table: 'operator' },
  async change(body, caller, tx, { clock }) {
    const before = await operatorRecord(tx, caller.tid, body.id);
    checkFixedFields(body, before, fixedFields);
    if (body.name === null) throw fieldRefusal('name', 'must not be empty');
    if (body.role === null) throw fieldRefusal('role', 'must be reader, editor or admin');
    const [name, role] = [normalizeText(body.name ?? before.name), body.role ?? before.role];
    await checkOperatorName(tx, caller.tid, name, body.id);
    if (before.role === 'admin' && role !== 'admin') await checkAdminRemains(tx, caller.tid, body.id);
    await tx
      .updateTable('operator')
      .set((row) => ({
        name,
        name_key: fold(name),
        role,
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
