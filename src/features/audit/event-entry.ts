import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { appendAuditEntry, type NewAuditEntry } from './audit-entry.ts';
import type { VisitEvent } from './visit-audit.ts';

/** ms within which requests for one version of a file are one download. */
export const downloadWindow = 600_000;
/** ms within which equal refusals, visits and lists are one row. */
export const groupingWindow = 60_000;

export const tenantOfEvent = ({ link, tid }: VisitEvent) => link?.tid ?? tid ?? 0;

/** A visitor's happening as an audit row. */
export function auditEntryOf(event: VisitEvent, { process }: Pick<Ports, 'process'>, now: number): NewAuditEntry {
  const { link, visitor, visitorRequest } = event;
  return {
    tid: tenantOfEvent(event),
    at: now,
    actor: visitor?.name ?? '',
    actorKind: 'visitor',
    address: visitorRequest.address,
    action: event.action,
    outcome: event.outcome,
    share: link ? { id: link.id, title: link.title, viewId: link.view_id } : null,
    path: event.path,
    bytes: null,
    before: null,
    after: event.after ?? null,
    requestId: visitorRequest.requestId,
    process: event.outcome === 'begun' ? process : null,
  };
}

/** What a row is written from. */
interface GroupedEvent {
  readonly event: VisitEvent;
  /** What equal happenings have in common; null: it is one of its own. */
  readonly key: string | null;
  readonly now: number;
  /** Until when equal ones are counted in it. */
  readonly until: number;
}

/** Finds the row that an equal happening is already told by, or writes one. An end further ahead than any is set comes from a clock that was ahead. */
export async function findOrAppendEntry(
  tx: Tx,
  { event, key: plain, now, until }: GroupedEvent,
  process: string,
): Promise<{ id: number; fresh: boolean }> {
  const tid = tenantOfEvent(event);
  if (plain === null) return { id: await appendAuditEntry(tx, auditEntryOf(event, { process }, now)), fresh: true };
  const key = sha256(plain);
  const known = await tx
    .selectFrom('ongoing')
    .select('audit_id')
    .where('tid', '=', tid)
    .where('key', '=', key)
    .where('until', '>', now)
    .where('until', '<=', now + downloadWindow)
    .executeTakeFirst();
  if (known) return { id: known.audit_id, fresh: false };
  const id = await appendAuditEntry(tx, auditEntryOf(event, { process }, now));
  await tx.deleteFrom('ongoing').where('tid', '=', tid).where('key', '=', key).execute();
  await tx.insertInto('ongoing').values({ tid, key, audit_id: id, until }).execute();
  return { id, fresh: true };
}

/** Writes the row of a happening, or counts it in the one that the database knows. @returns its id */
export async function countEvent(tx: Tx, row: GroupedEvent, process: string): Promise<number> {
  const { id, fresh } = await findOrAppendEntry(tx, row, process);
  if (!fresh)
    await tx
      .updateTable('audit')
      .set((audit) => ({ count: audit('count', '+', 1) }))
      .where('tid', '=', tenantOfEvent(row.event))
      .where('id', '=', id)
      .execute();
  return id;
}
