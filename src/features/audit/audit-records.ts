import Type, { type Static } from 'typebox';
import { fold } from '#core/fold.ts';
import { formatInstant } from '#core/instant.ts';
import { type AuditEntry, outcomes } from '#core/records/audit-entry.ts';
import { recordId } from '#core/records/field.ts';
import { searchQuery } from '#core/records/search.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { bytesOf, bytesOfRows, checkPageBytes } from '#features/records/page-bytes.ts';
import { beginningOf, emptyFirst, type SearchPageRequest } from '#features/records/record-search.ts';
import type { Store, Tx } from '#ports/store.ts';

const own = {
  shareId: Type.Optional(recordId('Share.')),
  username: Type.Optional(Type.String({ maxLength: 255, description: 'Who did it.' })),
  action: Type.Optional(Type.String({ maxLength: 64, description: 'The operation, or what a visitor did.' })),
  outcome: Type.Optional(Type.Enum([...outcomes], { description: 'How it ended.' })),
};
const filter = Type.Object(own);
/** What audit/search and audit/export filter by. */
export const auditQuery = searchQuery(own);
export { own as auditFilter };

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
  path: beginningOf('audit.path'),
  bytes: emptyFirst('audit.bytes'),
  count: 'audit.count',
};

/** Rows of a tenant that the filter lets through. */
export function selectAuditEntries({ search, dialect }: Store, tid: number, query: Static<typeof filter>, page: SearchPageRequest) {
  let found = search.selectFrom('audit').where('tid', '=', tid);
  if (page.word !== null) found = found.where(dialect.holds('audit.search_text', page.word));
  if (page.from !== null) found = found.where('at', '>=', page.from);
  if (page.before !== null) found = found.where('at', '<', page.before);
  if (query.shareId !== undefined) found = found.where('share_id', '=', query.shareId);
  if (query.username !== undefined) found = found.where('actor', 'in', [query.username, fold(query.username)]);
  if (query.action !== undefined) found = found.where('action', '=', query.action);
  return query.outcome === undefined ? found : found.where('outcome', '=', query.outcome);
}

const longTexts = ['before', 'after', 'path'];

/** How many bytes the long texts of a row hold. */
export const entryBytes = bytesOf(longTexts);

/** The rows of those ids, in their order. @throws 400 where they are too much for one answer */
export async function auditRecordsOfPage(db: Tx, tid: number, ids: readonly number[]): Promise<AuditEntry[]> {
  checkPageBytes(await bytesOfRows(db, 'audit', longTexts, tid, ids));
  return auditRecords(db, tid, ids);
}

/** The rows of those ids, in their order. */
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
