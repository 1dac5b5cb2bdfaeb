import { AuditEntry } from '#core/records/audit-entry.ts';
import { searchEnvelope } from '#core/records/search.ts';
import { readOperation } from '#features/operation.ts';
import { findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import { auditQuery, auditRecordsOfPage, auditSortColumns, selectAuditEntries } from './audit-records.ts';

export const searchAudit = readOperation({
  name: 'audit/search',
  isSearch: true,
  method: 'GET',
  role: 'admin',
  summary: 'Searches the audit log.',
  body: auditQuery,
  response: searchEnvelope(AuditEntry),
  async read(query, caller, ports) {
    const page = parsePage(query, auditSortColumns);
    const { ids, ...rest } = await findPage(ports.store, {
      matches: selectAuditEntries(ports.store, caller.tid, query, page),
      page,
      id: 'audit.id',
    });
    const list = await auditRecordsOfPage(ports.store.search, caller.tid, ids);
    return searchResponse('audit', { list, ...rest }, page, hasFilter(query), caller, ports, 'admin');
  },
});
