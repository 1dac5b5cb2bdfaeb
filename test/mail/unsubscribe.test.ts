import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShare } from '../visit/visiting.ts';
import { headerOf, makeDigestsDue, startWithMail, waitForDigests } from './mailing.ts';

const alertFields = { alertCreateFolder: true, notifyEmails: 'ann@example.com, bob@example.com' };
const form = (body: string) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://mail.example.net', 'sec-fetch-site': 'cross-site' },
});

test('a recipient stops the mails about one share with one POST, for themselves alone', async (t) => {
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
  const address = new URL(headerOf(mail, 'list-unsubscribe').slice(1, -1)).pathname;
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

test('a mail scanner that opens the address does not stop the mails, because the page asks for confirmation', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, alertFields);
  await postern.visit(`${base}/folder/one`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const address = new URL(headerOf(await sink.waitFor(), 'list-unsubscribe').slice(1, -1)).pathname;
  const page = await postern.visit(address, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.match(page.body, /<form method="post"><button class="button">Stop alerts about this share<\/button><\/form>/);
  assert.deepEqual(await postern.ports.store.read.selectFrom('unsubscribed').selectAll().execute(), []);
  for (const wrong of ['/unsubscribe/x', `/unsubscribe/${encodeURIComponent(Buffer.alloc(60, 1).toString('base64'))}`])
    assert.equal((await postern.visit(wrong, form('List-Unsubscribe=One-Click'))).status, 404);
});
