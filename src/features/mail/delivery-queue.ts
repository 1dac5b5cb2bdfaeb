import { sql } from 'kysely';
import { maxDeliveryAge } from '#core/mail/delivery-age.ts';
import type { MailLane } from '#ports/mail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

const [minute, hour] = [60_000, 3_600_000]; // ms
/** Pauses before the next attempt. They vary by a fifth, so that mails of one outage are not sent all at once. */
const pauses = [minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 24 * hour] as const;
/** Part of a pause by which it varies, from -0.2 to 0.2: different for neighbouring deliveries. */
const variation = (id: number) => ((id * 7919) % 401) / 1000 - 0.2;

type QueuePorts = Pick<Ports, 'store'>;

/** A delivery that this process is sending. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly tid: number;
  readonly recipient: string;
  readonly message_id: string;
  readonly created_at: number;
  readonly attempts: number;
  readonly kind: 'alert' | 'invitation' | 'test';
  readonly share_id: number | null;
  readonly content_id: number;
}

const waiting = (db: Tx, lane: MailLane) => db.selectFrom('delivery').where('lane', '=', lane).where('state', '=', 'waiting');
const isDue = (store: Store) => sql<boolean>`due_at <= ${store.dialect.now}`;

/** Returns whether a delivery of a lane can be sent, or was interrupted while it was sent. */
export async function hasDueDeliveries(store: Store, lane: MailLane): Promise<boolean> {
  const due = await waiting(store.read, lane).select('id').where(isDue(store)).limit(1).executeTakeFirst();
  if (due) return true;
  const interrupted = store.read.selectFrom('delivery').select('id').where('lane', '=', lane).where('state', '=', 'sending');
  return (await interrupted.limit(1).executeTakeFirst()) !== undefined;
}

/** Returns deliveries to the queue that a process was sending when it ended. Only the sender of the lane may call it. */
export async function requeueInterrupted({ store }: QueuePorts, lane: MailLane): Promise<void> {
  const interrupted = await store.read
    .selectFrom('delivery')
    .select('id')
    .where('lane', '=', lane)
    .where('state', '=', 'sending')
    .execute();
  if (interrupted.length === 0) return;
  await store.write(
    (tx) => tx.updateTable('delivery').set({ state: 'waiting' }).where('lane', '=', lane).where('state', '=', 'sending').execute(),
    'job',
  );
}

/** Returns the next tenant in turn that has a delivery which is due, or null. @param after the tenant that had its turn before */
async function nextTenant(store: Store, tx: Tx, lane: MailLane, after: number): Promise<number | null> {
  const due = waiting(tx, lane).select('tid').where(isDue(store)).orderBy('tid').limit(1);
  const next = (await due.where('tid', '>', after).executeTakeFirst()) ?? (await due.executeTakeFirst());
  return next?.tid ?? null;
}

/**
 * Claims the delivery of the next tenant in turn that has been due the longest.
 * @param after the tenant that had its turn before
 * @returns null if none is due
 */
export async function claimDelivery({ store }: QueuePorts, lane: MailLane, after: number): Promise<ClaimedDelivery | null> {
  return store.write(async (tx) => {
    const tid = await nextTenant(store, tx, lane, after);
    if (tid === null) return null;
    const next = await waiting(tx, lane).select('id').where('tid', '=', tid).orderBy('due_at').orderBy('id').limit(1).executeTakeFirst();
    if (!next) return null;
    const claimed = await tx
      .updateTable('delivery')
      .set((row) => ({ state: 'sending', attempts: row('attempts', '+', 1) }))
      .where('id', '=', next.id)
      .where('state', '=', 'waiting')
      .returning(['id', 'tid', 'recipient', 'message_id', 'created_at', 'attempts', 'kind', 'share_id', 'content_id'])
      .executeTakeFirst();
    return claimed ?? null;
  }, 'job');
}

/** The end of an attempt. */
export type Attempt =
  | { readonly kind: 'sent' }
  /** The server refuses the mail for good. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Try again later. */
  | { readonly kind: 'delayed'; readonly error: string };

/** Records the end of an attempt, unless an operator has dropped the delivery meanwhile. */
export async function recordAttempt({ store }: QueuePorts, { id, attempts }: ClaimedDelivery, attempt: Attempt): Promise<void> {
  const { now } = store.dialect;
  const pause = pauses[Math.min(attempts, pauses.length) - 1] ?? minute;
  const spread = Math.round(pause * variation(id));
  await store.write(async (tx) => {
    const sending = tx.updateTable('delivery').where('id', '=', id).where('state', '=', 'sending');
    if (attempt.kind === 'sent') await sending.set({ state: 'sent', ended_at: sql<number>`${now}`, error: '' }).execute();
    else if (attempt.kind === 'refused')
      await sending.set({ state: 'failed', ended_at: sql<number>`${now}`, error: attempt.error }).execute();
    else await sending.set({ state: 'waiting', due_at: sql<number>`${now} + ${pause + spread}`, error: attempt.error }).execute();
  }, 'job');
}

/** Gives up the waiting deliveries that are too old. @returns their number */
export async function giveUpOldDeliveries({ store }: QueuePorts): Promise<number> {
  const isOld = sql<boolean>`created_at < ${store.dialect.now} - ${maxDeliveryAge}`;
  const old = store.read.selectFrom('delivery').select('id').where('state', '=', 'waiting').where(isOld);
  if (!(await old.limit(1).executeTakeFirst())) return 0;
  return store.write(async (tx) => {
    const ended_at = sql<number>`${store.dialect.now}`;
    const [result] = await tx
      .updateTable('delivery')
      .set({ state: 'failed', ended_at })
      .where('state', '=', 'waiting')
      .where(isOld)
      .execute();
    return Number(result?.numUpdatedRows);
  }, 'job');
}
