import { Operator } from '#core/records/operator.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { read } from '#features/operation.ts';
import { emptyFirst, envelopeOf, findPage, hasFilter, parsePage } from '#features/records/record-search.ts';
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

export const searchOperators = read({
  name: 'operator/search',
  isSearch: true,
  method: 'GET',
  role: 'admin',
  summary: 'Finds operators.',
  body: searchQuery({}),
  response: searchEnvelope(Operator),
  async read(query, caller, ports) {
    const page = parsePage(query, sortColumns);
    let matches = ports.store.search.selectFrom('operator').where('tid', '=', caller.tid);
    if (page.word !== null) matches = matches.where(ports.store.dialect.holds('operator.name_key', page.word));
    if (page.from !== null) matches = matches.where('created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('updated_at', '<', page.before);
    const { ids, ...rest } = await findPage(ports.store, { matches, page, id: 'operator.id' });
    const list = await operatorRecords(ports.store.search, caller.tid, ids);
    return envelopeOf('operator', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
