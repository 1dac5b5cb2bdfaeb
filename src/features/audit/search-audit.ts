import { AuditRow } from '#core/records/audit-entry.ts';
import { searchEnvelope } from '#core/records/search.ts';
import { read } from '#features/operation.ts';
import { envelope, filters, findPage, readPage } from '#features/records/record-search.ts';
import { auditMatches, auditPage, auditQuery, sortColumns } from './audit-records.ts';

export const searchAudit = read({
  name: 'audit/search',
  searches: true,
  method: 'GET',
  role: 'admin',
  summary: 'Finds what happened.',
  body: auditQuery,
  answer: searchEnvelope(AuditRow),
  async read(query, caller, ports) {
    const page = readPage(query, sortColumns);
    const { ids, ...rest } = await findPage(ports.store, {
      matches: auditMatches(ports.store, caller.tid, query, page),
      page,
      id: 'audit.id',
    });
    const list = await auditPage(ports.store.search, caller.tid, ids);
    return envelope('audit', { list, ...rest }, page, filters(query), caller, ports, 'admin');
  },
});
