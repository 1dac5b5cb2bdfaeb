import Type from 'typebox';
import { checkNewPassword } from '#core/password-rules.ts';
import { NewOperator, operatorFields } from '#core/records/operator.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { resolveTenant } from '#features/records/resolve-tenant.ts';
import { insertOperator, operatorRecord } from './operator-rows.ts';

export const addOperator = changeOperation({
  name: 'operator/add',
  method: 'POST',
  role: 'admin',
  summary: 'Adds an operator: an account of the console with the role reader, editor or admin.',
  message: 'operatorAdded',
  body: NewOperator,
  responseFields: Type.Object({ id: operatorFields.id }),
  async check(body, caller, { passwordHash }) {
    checkNewPassword(body, 'password');
    return { hash: await passwordHash.hash(body.password, caller) };
  },
  async change(body, caller, tx, { clock }, { hash }) {
    const tid = await resolveTenant(tx, caller, body.tid);
    const name = normalizeText(body.name);
    const id = await insertOperator(tx, { tid, name, role: body.role, passwordHash: hash, owner: caller.name }, clock.now());
    return { created: { id }, audit: { after: await operatorRecord(tx, tid, id) } };
  },
});
