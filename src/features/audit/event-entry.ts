import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { appendAuditEntry, type NewAuditEntry } from './audit-entry.ts';
import type { VisitEvent } from './visit-event.ts';

/** Requests of one visitor for one version of a file or an archive within this time are one download; ms. */
export const downloadWindow = 600_000;
/** Equal events other than downloads, such as visits, folder listings, sign-ins and refusals, share one entry within this time; ms. */
export const groupingWindow = 60_000;

/** Returns the tenant of an event, or 0 if the event belongs to no tenant. */
export const tenantOfEvent = ({ link, tid }: VisitEvent) => link?.tid ?? tid ?? 0;

/** Returns the audit entry of a visitor's event. */
export function auditEntryOf(event: VisitEvent, { process }: Pick<Ports, 'process'>, now: number): NewAuditEntry {
  const { link, visitor, visitorRequest } = event;
  return {
    tid: tenantOfEvent(event),
    at: now,
    actor: visitor?.name ?? '',
    identityKey: visitor?.identityKey ?? null,
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
    traceId: event.traceId ?? null,
  };
}

/** An event, and how to group it with equal events. */
interface GroupedEvent {
  readonly event: VisitEvent;
  /** Equal events have the same key. null: the event gets an entry of its own. */
  readonly key: string | null;
  readonly now: number;
  /** Until when equal events are counted in the same entry; ms since the epoch. */
  readonly until: number;
}

const findOpenEntry = preparedQuery((db, p: QueryParameter<{ tid: number; key: string; now: number; latest: number }>) =>
  db
    .selectFrom('ongoing')
    .select('audit_id')
    .where('tid', '=', p('tid'))
    .where('key', '=', p('key'))
    .where('until', '>', p('now'))
    .where('until', '<=', p('latest')),
);

const setOpenEntry = preparedQuery((db, p: QueryParameter<{ tid: number; key: string; id: number; until: number }>) =>
  db
    .insertInto('ongoing')
    .values({ tid: p('tid'), key: p('key'), audit_id: p('id'), until: p('until') })
    .onConflict((conflict) =>
      conflict.columns(['tid', 'key']).doUpdateSet((row) => ({ audit_id: row.ref('excluded.audit_id'), until: row.ref('excluded.until') })),
    ),
);

/**
 * Finds the open entry: the one that still counts events equal to this one. Without one, appends an entry. Ignores an open entry whose
 * `until` is more than `downloadWindow` in the future: it was written while the clock was ahead.
 */
export async function findOrAppendEntry(
  tx: Tx,
  { event, key: plainKey, now, until }: GroupedEvent,
  process: string,
): Promise<{ id: number; isNew: boolean }> {
  const tid = tenantOfEvent(event);
  if (plainKey === null) return { id: await appendAuditEntry(tx, auditEntryOf(event, { process }, now)), isNew: true };
  const key = sha256(plainKey);
  const [ongoing] = await findOpenEntry(tx, { tid, key, now, latest: now + downloadWindow });
  if (ongoing) return { id: ongoing.audit_id, isNew: false };
  const id = await appendAuditEntry(tx, auditEntryOf(event, { process }, now));
  await setOpenEntry(tx, { tid, key, id, until });
  return { id, isNew: true };
}

/** Appends the entry of an event, or counts the event in its open entry. @returns the id of the entry */
export async function countEvent(tx: Tx, grouped: GroupedEvent, process: string): Promise<number> {
  const { id, isNew } = await findOrAppendEntry(tx, grouped, process);
  if (!isNew)
    await tx
      .updateTable('audit')
      .set((audit) => ({ count: audit('count', '+', 1) }))
      .where('tid', '=', tenantOfEvent(grouped.event))
      .where('id', '=', id)
      .execute();
  return id;
}
