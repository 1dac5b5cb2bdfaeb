import Type from 'typebox';
import { AccessUser } from '#core/records/access-user.ts';
import { recordId } from '#core/records/field.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { read } from '#features/operation.ts';
import { envelope, filters, findPage, readPage, recordsFrom } from '#features/records/record-search.ts';
import { accessUserRecords, sortColumns } from './access-user-rows.ts';

export const searchAccessUsers = read({
  name: 'accessuser/search',
  searches: true,
  method: 'GET',
  role: 'reader',
  summary: 'Finds access users.',
  body: searchQuery({
    authId: Type.Optional(recordId('Login profile.')),
    active: Type.Optional(Type.Boolean({ description: 'true: those who can sign in; false: those who cannot.' })),
  }),
  answer: searchEnvelope(AccessUser),
  async read(query, caller, ports) {
    const page = readPage(query, sortColumns);
    let found = ports.store.search.selectFrom('access_user').where('access_user.tid', '=', caller.tid);
    if (page.from !== null) found = found.where('access_user.created_at', '>=', page.from);
    if (page.before !== null) found = found.where('access_user.updated_at', '<', page.before);
    if (query.authId !== undefined) found = found.where('access_user.profile_id', '=', query.authId);
    if (query.active !== undefined) found = found.where('access_user.active', '=', query.active ? 1 : 0);
    const { searchWord: _, ...others } = query;
    const { ids, ...rest } = await findPage(ports.store, {
      matches: found,
      page,
      id: 'access_user.id',
      word:
        page.word === null
          ? null
          : {
              word: page.word,
              within: [],
              holds: ports.store.dialect.holds('access_user.search_text', page.word),
            },
      kept: { table: 'access_user', tid: caller.tid, narrowed: filters(others), lasting: true },
    });
    const list = await accessUserRecords(recordsFrom(ports.store, ids), caller.tid, ids);
    return envelope('accessuser', { list, ...rest }, page, filters(query), caller, ports, 'editor');
  },
});
