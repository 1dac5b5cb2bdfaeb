import Type, { type Static } from 'typebox';
import { fold } from '#core/fold.ts';
import { formatInstant } from '#core/instant.ts';
import { type AuditEntry, outcomes } from '#core/records/audit-entry.ts';
import { recordId } from '#core/records/field.ts';
import { searchQuery } from '#core/records/search.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { bytesOf, bytesOfRows, checkPageBytes } from '#features/records/page-bytes.ts';
import { emptyFirst, type SearchPageRequest, sortablePrefix } from '#features/records/record-search.ts';
import type { Store, Tx } from '#ports/store.ts';

const filterFields = {
  shareId: Type.Optional(recordId('Share.')),
  username: Type.Optional(Type.String({ maxLength: 255, description: 'Name of the key, operator or visitor.' })),
  action: Type.Optional(Type.String({ maxLength: 64, description: 'The operation, or the action of a visitor.' })),
  outcome: Type.Optional(Type.Enum([...outcomes], { description: 'Outcome of the action.' })),
};
const filterSchema = Type.Object(filterFields);
export const auditQuery = searchQuery(filterFields);
export { filterFields as auditFilter };

export const auditSortColumns = {
  id: 'audit.id',
  dateTime: 'audit.at',
  actor: 'audit.actor',
  actorKind: 'audit.actor_kind',
  address: 'audit.address',
  action: 'audit.action',
  outcome: 'audit.outcome',
  shareId: emptyFirst('audit.share_id'),
  shareTitle: 'audit.share_title',
  viewId: 'audit.view_id',
  path: sortablePrefix('audit.path'),
  bytes: emptyFirst('audit.bytes'),
  count: 'audit.count',
};

/** Returns a query for the audit entries of a tenant that match the filters. */
export function selectAuditEntries({ search, dialect }: Store, tid: number, query: Static<typeof filterSchema>, page: SearchPageRequest) {
  let entries = search.selectFrom('audit').where('tid', '=', tid);
  if (page.word !== null) entries = entries.where(dialect.containsWord('audit.search_text', page.word));
  if (page.from !== null) entries = entries.where('at', '>=', page.from);
  if (page.before !== null) entries = entries.where('at', '<', page.before);
  if (query.shareId !== undefined) entries = entries.where('share_id', '=', query.shareId);
  if (query.username !== undefined) entries = entries.where('actor', 'in', [query.username, fold(query.username)]);
  if (query.action !== undefined) entries = entries.where('action', '=', query.action);
  return query.outcome === undefined ? entries : entries.where('outcome', '=', query.outcome);
}

const longTexts = ['before', 'after', 'path'];

/** The number of bytes in the long texts of an entry, as an SQL expression. */
export const entryBytes = bytesOf(longTexts);

/** Returns the entries with these ids, in the order of the ids. @throws Refusal (400) if they are too large for one response */
export async function auditRecordsOfPage(db: Tx, tid: number, ids: readonly number[]): Promise<AuditEntry[]> {
  checkPageBytes(await bytesOfRows(db, 'audit', longTexts, tid, ids));
  return auditRecords(db, tid, ids);
}

/** Returns the entries with these ids, in the order of the ids. */
export async function auditRecords(db: Tx, tid: number, ids: readonly number[]): Promise<AuditEntry[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const records = rows.map((row) => ({
    id: row.id,
    dateTime: formatInstant(row.at),
    tid: row.tid,
    actor: row.actor,
    actorKind: row.actor_kind,
    address: row.address,
    action: row.action,
    outcome: row.outcome,
    shareId: row.share_id,
    shareTitle: row.share_title,
    viewId: row.view_id,
    path: row.path,
    bytes: row.bytes,
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    count: row.count,
  }));
  return inIdOrder(ids, records);
}
