import { Refusal } from '#core/messages.ts';
import { AccessUser, accessUserFields } from '#core/records/access-user.ts';
import { bodyOf } from '#core/records/field.ts';
import { readOperation } from '#features/operation.ts';
import { accessUserRecords } from './access-user-rows.ts';

export const getAccessUser = readOperation({
  name: 'accessuser/get',
  method: 'POST',
  role: 'reader',
  summary: 'Returns an access user.',
  body: bodyOf(accessUserFields, ['id'], []),
  response: AccessUser,
  async read({ id }, caller, { store }) {
    const [user] = await accessUserRecords(store.read, caller.tid, [id]);
    if (!user) throw new Refusal('recordUnknown');
    return user;
  },
});
