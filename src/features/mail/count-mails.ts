import { sql } from 'kysely';
import { type DeliveryState, deliveryStates } from '#core/records/mail.ts';
import type { Ports } from '#ports/ports.ts';

/** Mails of all tenants, as metrics show them. */
export interface MailCounts {
  readonly byState: Readonly<Record<DeliveryState, number>>;
  /** How long the oldest waiting mail has been due, in ms. */
  readonly oldest: number;
}

export async function countMails({ store }: Pick<Ports, 'store'>): Promise<MailCounts> {
  const rows = await store.reports
    .selectFrom('delivery')
    .select(['state', sql<number>`count(*)`.as('count')])
    .groupBy('state')
    .execute();
  const counts = new Map(rows.map(({ state, count }) => [state, Number(count)]));
  const due = await store.read
    .selectFrom('delivery')
    .select(sql<number>`coalesce(${store.dialect.now} - min(due_at), 0)`.as('oldest'))
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow();
  const byState: Record<DeliveryState, number> = { waiting: 0, sending: 0, sent: 0, failed: 0, dropped: 0, held: 0 };
  for (const state of deliveryStates) byState[state] = counts.get(state) ?? 0;
  return { byState, oldest: Math.max(0, Number(due.oldest)) };
}
