import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotSource } from '#features/copies/backup-lines.ts';
import { fillStore } from '#features/copies/fill-store.ts';
import { addMail, addPendingDeliveries, type NewMail } from '#features/outbox/add-mail.ts';
import type { Store } from '#ports/store.ts';
import { openStore } from '../../src/adapters/store/open-store.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';

/** `addMail` adds deliveries for the first 200 recipients, and `addPendingDeliveries` adds one for the last recipient. */
const recipients = Array.from({ length: 201 }, (_, index) => `r${index}@example.com`);
const content = { shareTitle: '', viewUrl: '', visitors: [], addresses: [], namedActions: [], counts: {} };

const addAlert = ({ ports }: TestPostern, over: Partial<NewMail>) => {
  const mail = { kind: 'alert', content } as const;
  const plan = { tid: 1, shareId: 1, mail, language: 'en', recipients, domain: 'example.com', ...over };
  return ports.store.write((tx) => addMail(ports, tx, plan), 'job');
};

/** Adds the missing deliveries. @returns the states of all deliveries, without duplicates */
async function statesAfterAdding({ ports: { random } }: TestPostern, store: Store): Promise<string[]> {
  await addPendingDeliveries({ store, random }, 'example.com', 0);
  const rows = await store.read.selectFrom('delivery').select('state').distinct().execute();
  return rows.map(({ state }) => state);
}

test('the remaining deliveries of a held mail are held, even if its first 200 recipients have unsubscribed', async (t) => {
  const postern = await startPostern(t);
  const rows = recipients.slice(0, 200).map((recipient_key) => ({ tid: 1, share_id: 1, recipient_key, at: 0 }));
  await postern.ports.store.write((tx) => tx.insertInto('unsubscribed').values(rows).execute(), 'job');
  await addAlert(postern, { isHeld: true });
  assert.deepEqual(await statesAfterAdding(postern, postern.ports.store), ['held']);
});

test('the remaining deliveries of a restored mail are held, even if its first 200 recipients got the mail before the backup', async (t) => {
  const postern = await startPostern(t);
  const { store } = postern.ports;
  await addAlert(postern, {});
  await store.write((tx) => tx.updateTable('delivery').set({ state: 'sent' }).execute(), 'job');
  await using copy = await openStore({ databaseUrl: null, folder: await temporaryFolder(t), searchMemory: 0 }, assert.ifError);
  await fillStore(copy, snapshotSource({ db: store.read, lastIds: {} }), () => {}, { isBackup: true });
  assert.deepEqual((await statesAfterAdding(postern, copy)).sort(), ['held', 'sent']);
});
