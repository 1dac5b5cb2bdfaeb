import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReceivedMail, startMailSink } from '../parts/mail-sink.ts';
import { until } from '../ports/until.ts';
import type { Json } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { headerOf, makeDigestsDue, makeMailsDue, startWithMail, waitForDigests } from './mailing.ts';

const alertFields = { alertCreateFolder: true, notifyEmails: 'ann@example.com, bob@example.com' };
const form = (body: string) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://mail.example.net', 'sec-fetch-site': 'cross-site' },
});

const unsubscribeAddress = (mail: ReceivedMail) => new URL(headerOf(mail, 'list-unsubscribe').slice(1, -1)).pathname;

test('one POST stops the alerts about one share to one recipient, and no other alerts', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, alertFields);
  const sendAlert = async (name: string) => {
    await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
    await waitForDigests(postern, 1);
    await makeDigestsDue(postern);
  };
  await sendAlert('one');
  const mail = await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  await sink.waitFor(({ to }) => to[0] === 'bob@example.com');
  assert.equal(headerOf(mail, 'list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  const address = unsubscribeAddress(mail);
  assert.equal((await postern.visit(address, form('List-Unsubscribe=One-Click'))).status, 200);
  assert.equal((await postern.visit(address, form('List-Unsubscribe=One-Click'))).status, 200); // again, as some programs do
  sink.mails.length = 0;
  await sendAlert('two');
  await sink.waitFor(({ to }) => to[0] === 'bob@example.com');
  const other = await createShare(postern, alertFields);
  await postern.visit(`${other.base}/folder/three`, { method: 'POST' });
  await waitForDigests(postern, 2);
  await makeDigestsDue(postern);
  await sink.waitFor(({ to, raw }) => to[0] === 'ann@example.com' && raw.includes('three'));
  assert.equal(sink.mails.filter(({ to }) => to[0] === 'ann@example.com').length, 1);
});

test('a recipient who has unsubscribed gets no alert that is held, that is tried again, or that an operator sends again', async (t) => {
  let onMail = async () => {};
  const sink = await startMailSink(t, { beforeAccept: () => onMail() });
  const { postern } = await startWithMail(t, {}, sink);
  const { base } = await createShare(postern, { alertCreateFolder: true, notifyEmails: 'ann@example.com' });
  const sendAlert = async (name: string) => {
    await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
    await waitForDigests(postern, 1);
    await makeDigestsDue(postern);
  };
  const deliveries = async (): Promise<Json[]> => (await postern.call('mail/deliveries', { sortField: 'id' })).list;
  const states = async () => (await deliveries()).map(({ state }) => state).join(' ');
  await sendAlert('one');
  const address = unsubscribeAddress(await sink.waitFor());
  await until(async () => (await states()) === 'sent');
  await postern.ports.store.write((tx) => tx.updateTable('delivery').set({ state: 'held' }).execute(), 'job'); // as a restore does
  onMail = async () => {
    await postern.visit(address, form('List-Unsubscribe=One-Click'));
    throw Object.assign(new Error('try again later'), { responseCode: 451 });
  };
  await sendAlert('two');
  await until(async () => (await states()) === 'dropped waiting');
  onMail = async () => {};
  await makeMailsDue(postern);
  await until(async () => (await states()) === 'dropped dropped');
  await postern.call('mail/retry', { id: (await deliveries())[1].id });
  await until(async () => (await states()) === 'dropped dropped');
  assert.equal(sink.mails.length, 1);
});

test('a mail scanner that opens the address does not stop the mails, because the page asks for confirmation', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, alertFields);
  await postern.visit(`${base}/folder/one`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const address = unsubscribeAddress(await sink.waitFor());
  const page = await postern.visit(address, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.match(page.body, /<form method="post"><button class="button">Stop alerts about this share<\/button><\/form>/);
  assert.deepEqual(await postern.ports.store.read.selectFrom('unsubscribed').selectAll().execute(), []);
  for (const wrong of ['/unsubscribe/x', `/unsubscribe/${encodeURIComponent(Buffer.alloc(60, 1).toString('base64'))}`])
    assert.equal((await postern.visit(wrong, form('List-Unsubscribe=One-Click'))).status, 404);
});
