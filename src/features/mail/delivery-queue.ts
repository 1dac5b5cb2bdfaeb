import { sql } from 'kysely';
import { maxAgeOf } from '#core/mail/delivery-age.ts';
import { emailKey } from '#core/mail/email.ts';
import type { MailKind } from '#core/records/mail.ts';
import type { MailLane } from '#ports/mail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';
import { findTurn, hasDueDelivery, isDue, type LastTurns, waitingDeliveries } from './next-turn.ts';
import type { CrowdedMails } from './slow-mails.ts';
import { unsubscribedText } from './unsubscribe.ts';

const [minute, hour] = [60_000, 3_600_000]; // ms
/** Pauses before the next attempt. They vary by up to a fifth, so that mails that failed in the same outage are not retried all at once. */
const pausesOf = {
  alerts: [minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 24 * hour],
  codes: [5000, 15_000, 30_000, minute], // a person waits for a code
} as const;
const postponement = 5000; // ms
const deliveriesPerChange = 1000; // in one transaction, so that other changes get their turn
/** Returns the fraction by which a pause varies, from -0.2 to 0.2. It differs between deliveries with consecutive ids. */
const variation = (id: number) => ((id * 7919) % 401) / 1000 - 0.2;

type QueuePorts = Pick<Ports, 'store'>;

/** A delivery that this process is sending. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly tid: number;
  readonly turn: string;
  readonly recipient: string;
  readonly message_id: string;
  readonly created_at: number;
  /** Time of the claim, by the clock of the database. */
  readonly claimed_at: number;
  readonly attempts: number;
  readonly kind: MailKind;
  readonly share_id: number | null;
  readonly content_id: number;
}

/** Returns whether a delivery of a lane can be sent, or was interrupted while it was being sent. */
export async function hasDeliveriesToSend(store: Store, lane: MailLane): Promise<boolean> {
  if (await hasDueDelivery(store, lane)) return true;
  const interruptedDelivery = store.read.selectFrom('delivery').select('id').where('lane', '=', lane).where('state', '=', 'sending');
  return (await interruptedDelivery.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * SQL condition: the claim of a delivery is still valid. A process that was suspended may lose its claim to another process, whose claim
 * has another number of attempts.
 */
export const isClaimed = ({ id, attempts }: ClaimedDelivery) =>
  sql<boolean>`delivery.id = ${id} AND delivery.state = 'sending' AND delivery.attempts = ${attempts}`;

/** Requeues claimed deliveries that were not tried: their state becomes `waiting` again. */
export async function requeueUntriedDeliveries({ store }: QueuePorts, deliveries: readonly ClaimedDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await store.write(
    (tx) =>
      tx
        .updateTable('delivery')
        .set((row) => ({ state: 'waiting', attempts: row('attempts', '-', 1) }))
        .where(({ or }) => or(deliveries.map(isClaimed)))
        .execute(),
    'job',
  );
}

/**
 * Requeues deliveries that an interrupted run has left in the state `sending`. Only the sender of the lane may call this, before the sender
 * claims any.
 */
export async function requeueInterrupted({ store }: QueuePorts, lane: MailLane): Promise<void> {
  const interruptedDeliveries = await store.read
    .selectFrom('delivery')
    .select('id')
    .where('lane', '=', lane)
    .where('state', '=', 'sending')
    .execute();
  if (interruptedDeliveries.length === 0) return;
  await store.write(
    (tx) => tx.updateTable('delivery').set({ state: 'waiting' }).where('lane', '=', lane).where('state', '=', 'sending').execute(),
    'job',
  );
}

/**
 * Claims due deliveries of the next tenant and, within it, of the next turn, in the order of their due times. So a mail to thousands of
 * recipients delays no other mail, and the codes that one wide network requests delay no other codes.
 * @returns an empty list if none is due, or if all that are due must wait because of slow mails
 */
export async function claimDeliveries(
  { store }: QueuePorts,
  lane: MailLane,
  last: LastTurns,
  crowded: CrowdedMails,
  limit: number,
): Promise<readonly ClaimedDelivery[]> {
  return store.write(async (tx) => {
    const nextTurn = await findTurn(store, tx, lane, last, crowded);
    if (!nextTurn) return [];
    const { tid, turn } = nextTurn;
    const ofTurn = waitingDeliveries(tx, lane).select('id').where('tid', '=', tid).where('turn', '=', turn).where(isDue(store));
    const next = await ofTurn.orderBy('due_at').orderBy('id').limit(limit).execute();
    if (next.length === 0) return [];
    return tx
      .updateTable('delivery')
      .set((row) => ({ state: 'sending', attempts: row('attempts', '+', 1) }))
      .where(
        'id',
        'in',
        next.map(({ id }) => id),
      )
      .where('state', '=', 'waiting')
      .returning(['id', 'tid', 'turn', 'recipient', 'message_id', 'created_at', 'attempts', 'kind', 'share_id', 'content_id'])
      .returning(sql<number>`${store.dialect.now}`.as('claimed_at'))
      .execute();
  }, 'job');
}

export type AttemptOutcome =
  | { readonly kind: 'sent' }
  /** The mail can never be sent, for example because the server refuses it permanently. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Try again later. */
  | { readonly kind: 'delayed'; readonly error: string }
  /** The server could not be used when an earlier mail was sent, so this one was not tried. */
  | { readonly kind: 'untried' }
  /** Too many mails to the host or domain of the recipient are slow: this one was not tried. */
  | { readonly kind: 'postponed' }
  /** No code is sent to the address that the visitor entered. The delivery is deleted. */
  | { readonly kind: 'unwanted' }
  /** The recipient has unsubscribed since the mail was planned. */
  | { readonly kind: 'unsubscribed' }
  /** The claim is lost, for example to another process: the delivery is not changed. */
  | { readonly kind: 'claimLost' };

/** Returns how an attempt changes the row of its delivery. */
function changeAfter(
  store: Store,
  lane: MailLane,
  { id, attempts }: ClaimedDelivery,
  attempt: Exclude<AttemptOutcome, { kind: 'unwanted' | 'claimLost' }>,
) {
  const now = sql<number>`${store.dialect.now}`;
  if (attempt.kind === 'sent') return { state: 'sent' as const, ended_at: now, error: '' };
  if (attempt.kind === 'refused') return { state: 'failed' as const, ended_at: now, error: attempt.error };
  if (attempt.kind === 'unsubscribed') return { state: 'dropped' as const, ended_at: now, error: unsubscribedText };
  if (attempt.kind === 'untried') return { state: 'waiting' as const, attempts: attempts - 1 };
  if (attempt.kind === 'postponed')
    return { state: 'waiting' as const, attempts: attempts - 1, due_at: sql<number>`${now} + ${postponement}` };
  const pauses = pausesOf[lane];
  const pause = pauses[Math.min(attempts, pauses.length) - 1] ?? minute;
  const due_at = sql<number>`${now} + ${pause + Math.round(pause * variation(id))}`;
  return { state: 'waiting' as const, due_at, error: attempt.error };
}

/**
 * Records the outcome of an attempt, unless the claim is lost. Deletes the content of a mail with a code once it was sent or refused.
 * Deletes an unwanted delivery even if the claim is lost.
 * @param recipient the address to which the mail was sent, or would have been sent
 */
export async function recordAttempt(
  { store }: QueuePorts,
  lane: MailLane,
  delivery: ClaimedDelivery,
  attempt: AttemptOutcome,
  recipient: string,
): Promise<void> {
  if (attempt.kind === 'claimLost') return;
  if (attempt.kind === 'unwanted') return deleteCodeDeliveries({ store }, [delivery]);
  await store.write(async (tx) => {
    const [result] = await tx
      .updateTable('delivery')
      .set({ ...changeAfter(store, lane, delivery, attempt), recipient, recipient_key: emailKey(recipient) })
      .where(isClaimed(delivery))
      .execute();
    if (result?.numUpdatedRows === 1n && delivery.kind === 'code' && (attempt.kind === 'sent' || attempt.kind === 'refused'))
      await deleteContents(tx, [delivery]);
  }, 'job');
}

/** Deletes the contents of mails with codes. Each has only one delivery. */
async function deleteContents(tx: Tx, deliveries: readonly Pick<ClaimedDelivery, 'content_id'>[]): Promise<void> {
  const ids = deliveries.map(({ content_id }) => content_id);
  if (ids.length > 0) await tx.deleteFrom('mail_content').where('id', 'in', ids).execute();
}

/** Deletes deliveries of codes, with their contents. */
export async function deleteCodeDeliveries(
  { store }: QueuePorts,
  deliveries: readonly Pick<ClaimedDelivery, 'id' | 'content_id'>[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const ids = deliveries.map(({ id }) => id);
  await store.write(async (tx) => {
    await tx.deleteFrom('delivery').where('id', 'in', ids).execute();
    await deleteContents(tx, deliveries);
  }, 'job');
}

/**
 * Returns waiting mails with codes that were not tried yet, with their contents, the oldest first.
 * @param after returns only deliveries with a greater id
 */
export const waitingCodes = ({ store }: QueuePorts, after: number, limit: number) =>
  store.read
    .selectFrom('delivery')
    .innerJoin('mail_content', 'mail_content.id', 'delivery.content_id')
    .select(['delivery.id', 'delivery.content_id', 'mail_content.data'])
    .where('delivery.lane', '=', 'codes')
    .where('delivery.state', '=', 'waiting')
    .where('delivery.attempts', '=', 0)
    .where('delivery.id', '>', after)
    .orderBy('delivery.id')
    .limit(limit)
    .execute();

/** Gives up the waiting deliveries of a lane that are too old. If they are codes, also deletes their contents. */
export async function giveUpOldDeliveries({ store }: QueuePorts, lane: MailLane): Promise<void> {
  const isOld = sql<boolean>`created_at < ${store.dialect.now} - ${maxAgeOf[lane]}`;
  const oldDeliveries = (db: Tx) => waitingDeliveries(db, lane).select('id').where(isOld);
  if (!(await oldDeliveries(store.read).limit(1).executeTakeFirst())) return;
  const ended_at = sql<number>`${store.dialect.now}`;
  const giveUpBatch = async (tx: Tx) => {
    const failed = tx.updateTable('delivery').set({ state: 'failed', ended_at });
    const old = failed.where('id', 'in', oldDeliveries(tx).limit(deliveriesPerChange));
    const contents = await old.returning('content_id').execute();
    if (lane === 'codes') await deleteContents(tx, contents);
    return contents.length;
  };
  while ((await store.write(giveUpBatch, 'job')) === deliveriesPerChange);
}
