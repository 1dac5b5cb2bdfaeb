import { Operator } from '#core/records/operator.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { emptyFirst, findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { operatorRecords } from './operator-rows.ts';

const sortColumns = {
  id: 'operator.id',
  name: 'operator.name',
  role: 'operator.role',
  lastSignInDateTime: emptyFirst('operator.last_sign_in_at'),
  createdOwner: 'operator.created_owner',
  updatedOwner: 'operator.updated_owner',
  createDateTime: 'operator.created_at',
  updateDateTime: 'operator.updated_at',
};

export const searchOperators = readOperation({
  name: 'operator/search',
  isSearch: true,
  method: 'GET',
  role: 'admin',
  summary: 'Searches operators.',
  body: searchQuery({}),
  response: searchEnvelope(Operator),
  async read(query, caller, ports) {
    const page = parsePage(query, sortColumns);
    let matches = ports.store.search.selectFrom('operator').where('tid', '=', caller.tid);
    if (page.word !== null) matches = matches.where(ports.store.dialect.containsWord('operator.name_key', page.word));
    if (page.from !== null) matches = matches.where('created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('updated_at', '<', page.before);
    const { ids, ...rest } = await findPage(ports.store, { matches, page, id: 'operator.id' });
    const list = await operatorRecords(ports.store.search, caller.tid, ids);
    return searchResponse('operator', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
