import Type from 'typebox';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { count } from '#core/records/field.ts';
import { ChosenDeliveries, type DeliveryState } from '#core/records/mail.ts';
import { changeOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the ids of the mails that a request selects. @throws Refusal 400, 404, 409 */
async function chooseDeliveries(
  tx: Tx,
  tid: number,
  { id, state }: ChosenDeliveries,
  allowed: readonly DeliveryState[],
): Promise<number[]> {
  if ((id === undefined) === (state === undefined)) throw fieldRefusal('id', 'send either id or state, not both');
  const rows = tx.selectFrom('delivery').select(['id', 'state', 'kind']).where('tid', '=', tid);
  if (state !== undefined)
    return (
      await rows
        .where('state', '=', state)
        .where('state', 'in', [...allowed])
        .where('kind', '<>', 'code')
        .orderBy('id')
        .limit(maxChosen)
        .execute()
    ).map((row) => row.id);
  const row = await rows.where('id', '=', id ?? 0).executeTakeFirst();
  if (!row) throw new Refusal('recordUnknown');
  if (row.kind === 'code') throw new Refusal('mailStateWrong', 'A code expires after ten minutes. The visitor can request a new one.');
  if (!allowed.includes(row.state)) throw new Refusal('mailStateWrong', `The state of the mail is ${row.state}.`);
  return [row.id];
}

const idsPerStatement = 1000;
const maxChosen = 10_000; // in one call, so that other changes get their turn
const responseFields = Type.Object({ mailCount: count('Number of mails.') });

function partsOf(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / idsPerStatement) }, (_, part) =>
    ids.slice(part * idsPerStatement, (part + 1) * idsPerStatement),
  );
}

export const retryDeliveries = changeOperation({
  name: 'mail/retry',
  method: 'POST',
  role: 'admin',
  summary: 'Sends one mail again, or up to 10,000 mails in one state.',
  message: 'mailRetried',
  body: ChosenDeliveries,
  responseFields,
  // The queue compares the times of mails with the time of the database.
  check: async (_body, _caller, { store }) => store.dialect.now,
  async change(body, { tid }, tx, _ports, now) {
    const ids = await chooseDeliveries(tx, tid, body, ['failed', 'held', 'dropped', 'waiting']);
    for (const part of partsOf(ids))
      await tx
        .updateTable('delivery')
        .set({ state: 'waiting', attempts: 0, created_at: now, due_at: now, ended_at: null })
        .where('tid', '=', tid)
        .where('id', 'in', part)
        .execute();
    return { created: { mailCount: ids.length }, audit: { after: { ...body, count: ids.length } } };
  },
});

export const dropDeliveries = changeOperation({
  name: 'mail/drop',
  method: 'POST',
  role: 'admin',
  summary: 'Drops one mail that was not sent, or up to 10,000 mails in one state.',
  message: 'mailDropped',
  body: ChosenDeliveries,
  responseFields,
  check: async (_body, _caller, { store }) => store.dialect.now,
  async change(body, { tid }, tx, _ports, now) {
    const ids = await chooseDeliveries(tx, tid, body, ['failed', 'held', 'waiting']);
    for (const part of partsOf(ids))
      await tx.updateTable('delivery').set({ state: 'dropped', ended_at: now }).where('tid', '=', tid).where('id', 'in', part).execute();
    return { created: { mailCount: ids.length }, audit: { after: { ...body, count: ids.length } } };
  },
});
