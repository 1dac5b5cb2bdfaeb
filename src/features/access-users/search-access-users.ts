import Type from 'typebox';
import { AccessUser } from '#core/records/access-user.ts';
import { recordId } from '#core/records/field.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { read } from '#features/operation.ts';
import { envelope, filters, findPage, holdsWord, readPage } from '#features/record-search.ts';
import { accessUserRecords, sortColumns } from './access-user-rows.ts';

export const searchAccessUsers = read({
  name: 'accessuser/search',
  method: 'GET',
  role: 'reader',
  summary: 'Finds access users.',
  body: searchQuery({ authId: Type.Optional(recordId('Login profile.')) }),
  answer: searchEnvelope(AccessUser),
  async read(query, caller, ports) {
    const page = readPage(query, sortColumns);
    let found = ports.store.search
      .selectFrom('access_user')
      .innerJoin('login_profile', 'login_profile.id', 'access_user.profile_id')
      .where('access_user.tid', '=', caller.tid);
    if (page.word !== null) found = found.where(holdsWord('access_user.search_text', page.word));
    if (page.from !== null) found = found.where('access_user.created_at', '>=', page.from);
    if (page.before !== null) found = found.where('access_user.updated_at', '<', page.before);
    if (query.authId !== undefined) found = found.where('access_user.profile_id', '=', query.authId);
    const { ids, ...rest } = await findPage(found, page, 'access_user.id');
    const list = await accessUserRecords(ports.store.search, caller.tid, ids);
    return envelope('accessuser', { list, ...rest }, page, filters(query), caller, ports, 'editor');
  },
});
