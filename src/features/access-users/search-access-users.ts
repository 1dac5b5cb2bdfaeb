import Type from 'typebox';
import { AccessUser } from '#core/records/access-user.ts';
import { recordId } from '#core/records/field.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { connectionForRecords, findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { accessUserRecords, accessUserSortColumns } from './access-user-rows.ts';

export const searchAccessUsers = readOperation({
  name: 'accessuser/search',
  isSearch: true,
  method: 'GET',
  role: 'reader',
  summary: 'Searches access users.',
  body: searchQuery({
    authId: Type.Optional(recordId('Login profile.')),
    active: Type.Optional(Type.Boolean({ description: 'true: active users; false: inactive users.' })),
  }),
  response: searchEnvelope(AccessUser),
  async read(query, caller, ports) {
    const page = parsePage(query, accessUserSortColumns);
    let matches = ports.store.search.selectFrom('access_user').where('access_user.tid', '=', caller.tid);
    if (page.from !== null) matches = matches.where('access_user.created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('access_user.updated_at', '<', page.before);
    if (query.authId !== undefined) matches = matches.where('access_user.profile_id', '=', query.authId);
    if (query.active !== undefined) matches = matches.where('access_user.active', '=', query.active ? 1 : 0);
    const { searchWord: _, ...otherFilters } = query;
    const { ids, ...rest } = await findPage(ports.store, {
      matches,
      page,
      id: 'access_user.id',
      word:
        page.word === null
          ? null
          : {
              word: page.word,
              locationIds: [],
              condition: ports.store.dialect.containsWord('access_user.search_text', page.word),
            },
      countedRecords: { table: 'access_user', tid: caller.tid, hasOtherFilters: hasFilter(otherFilters), isCacheable: true },
    });
    const list = await accessUserRecords(connectionForRecords(ports.store, ids), caller.tid, ids);
    return searchResponse('accessuser', { list, ...rest }, page, hasFilter(query), caller, ports, 'editor');
  },
});
