import { ApiKey } from '#core/records/api-key.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { emptyFirst, findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { apiKeyRecords } from './api-key-rows.ts';

const sortColumns = {
  id: 'api_key.id',
  name: 'api_key.name',
  role: 'api_key.role',
  expiryDateTime: emptyFirst('api_key.expires_at'),
  lastUsedDateTime: emptyFirst('api_key.last_used_at'),
  createdOwner: 'api_key.created_owner',
  createDateTime: 'api_key.created_at',
};

export const searchApiKeys = readOperation({
  name: 'apikey/search',
  isSearch: true,
  method: 'GET',
  role: 'admin',
  summary: 'Searches API keys. The response never contains the keys themselves.',
  body: searchQuery({}),
  response: searchEnvelope(ApiKey),
  async read(query, caller, ports) {
    const page = parsePage(query, sortColumns);
    let keys = ports.store.search.selectFrom('api_key').where('tid', '=', caller.tid);
    if (page.word !== null) keys = keys.where(ports.store.dialect.containsWord('api_key.name', page.word));
    if (page.from !== null) keys = keys.where('created_at', '>=', page.from);
    if (page.before !== null) keys = keys.where('created_at', '<', page.before);
    const { ids, ...rest } = await findPage(ports.store, { matches: keys, page, id: 'api_key.id' });
    const list = await apiKeyRecords(ports.store.search, caller.tid, ids);
    return searchResponse('apikey', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
