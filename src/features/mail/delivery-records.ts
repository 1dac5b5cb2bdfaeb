import { formatInstant } from '#core/instant.ts';
import type { Delivery } from '#core/records/mail.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the records of a tenant's mails, in the order of the ids. */
export async function deliveryRecords(db: Tx, tid: number, ids: readonly number[]): Promise<Delivery[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('delivery')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const records = rows.map((row) => ({
    ...{ id: row.id, tid: row.tid, kind: row.kind, shareId: row.share_id, recipient: row.recipient, state: row.state },
    ...{ attempts: row.attempts, error: row.error, createDateTime: formatInstant(row.created_at) },
    ...{ dueDateTime: formatInstant(row.due_at), endDateTime: row.ended_at === null ? null : formatInstant(row.ended_at) },
  }));
  return inIdOrder(ids, records);
}
