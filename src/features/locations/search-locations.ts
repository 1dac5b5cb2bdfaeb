import { Location } from '#core/records/location.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { bytesOfRows, checkPageBytes } from '#features/records/page-bytes.ts';
import { findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { locationRecords } from './location-rows.ts';

const sortColumns = {
  id: 'location.id',
  name: 'location.name',
  kind: 'location.kind',
  createdOwner: 'location.created_owner',
  updatedOwner: 'location.updated_owner',
  createDateTime: 'location.created_at',
  updateDateTime: 'location.updated_at',
};

export const searchLocations = readOperation({
  name: 'location/search',
  isSearch: true,
  method: 'GET',
  role: 'editor',
  summary: 'Searches locations; an editor sees them without configuration.',
  body: searchQuery({}),
  response: searchEnvelope(Location),
  async read(query, caller, ports) {
    const page = parsePage(query, sortColumns);
    let matches = ports.store.search.selectFrom('location').where('tid', '=', caller.tid);
    if (page.word !== null) matches = matches.where(ports.store.dialect.containsWord('location.search_text', page.word));
    if (page.from !== null) matches = matches.where('created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('updated_at', '<', page.before);
    const { ids, ...rest } = await findPage(ports.store, { matches, page, id: 'location.id' });
    checkPageBytes(await bytesOfRows(ports.store.search, 'location', ['configuration'], caller.tid, ids));
    const records = await locationRecords(ports.store.search, caller.tid, ids, ports.vault);
    const list = caller.role === 'admin' ? records : records.map((record) => ({ ...record, configuration: '' }));
    return searchResponse('location', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
