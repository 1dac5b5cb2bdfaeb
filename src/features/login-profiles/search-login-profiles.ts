import Type from 'typebox';
import { LoginProfile, profileTypeId } from '#core/records/login-profile.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { bytesOfRows, checkPageBytes } from '#features/records/page-bytes.ts';
import { findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { hideProfileDetails, loginProfileRecords, loginProfileSortColumns } from './login-profile-rows.ts';

const longTexts = ['configuration', 'description', 'ip_range', 'startup_message'];

export const searchLoginProfiles = readOperation({
  name: 'loginprofile/search',
  isSearch: true,
  method: 'GET',
  role: 'reader',
  summary: 'Searches login profiles; a reader sees them without configuration, username and counts.',
  body: searchQuery({
    typeId: Type.Optional(profileTypeId('Type of the profile.')),
    details: Type.Optional(Type.Boolean({ description: 'false: without configuration, username and counts.' })),
  }),
  response: searchEnvelope(LoginProfile),
  async read(query, caller, ports) {
    const hidesDetails = query.details === false || caller.role === 'reader';
    const { username, ...publicColumns } = loginProfileSortColumns;
    const page = parsePage(query, hidesDetails ? publicColumns : { ...publicColumns, username });
    const { word } = page;
    let matches = ports.store.search.selectFrom('login_profile').where('tid', '=', caller.tid);
    if (word !== null && hidesDetails) matches = matches.where(ports.store.dialect.containsWord('login_profile.search_text', word));
    if (word !== null && !hidesDetails)
      matches = matches.where(({ or }) =>
        or([
          ports.store.dialect.containsWord('login_profile.search_text', word),
          ports.store.dialect.containsWord('login_profile.username_key', word),
        ]),
      );
    if (page.from !== null) matches = matches.where('created_at', '>=', page.from);
    if (page.before !== null) matches = matches.where('updated_at', '<', page.before);
    if (query.typeId !== undefined) matches = matches.where('type_id', '=', query.typeId);
    const { ids, ...rest } = await findPage(ports.store, { matches, page, id: 'login_profile.id' });
    checkPageBytes(await bytesOfRows(ports.store.search, 'login_profile', longTexts, caller.tid, ids));
    const records = await loginProfileRecords(ports.store.search, caller.tid, ids, ports);
    const list = hidesDetails ? records.map(hideProfileDetails) : records;
    return searchResponse('loginprofile', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
