import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millisecondsPerDay as day } from '#core/instant.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { until } from '../ports/until.ts';
import { signIn, usersProfile } from '../start.ts';
import { linkTo, posting } from '../visit/visiting.ts';
import { headerOf, htmlOf, passDigests, startWithMail, textOf, waitForCollection, waitForDigests } from './mailing.ts';

const allAlerts = {
  alertView: true,
  alertDownload: true,
  alertUpload: true,
  alertCreateFolder: true,
  alertRename: true,
  alertDelete: true,
};
const owner = { notifyEmails: 'owner@example.com', ...allAlerts };

test('actions of a visitor within a minute arrive in one mail to each address of the share', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const link = await linkTo(postern, { ...owner, title: 'Plans', notifyEmails: 'ann@example.com, bob@example.com' });
  assert.equal((await postern.visit(`${link.base}/file/new.txt`, { method: 'PUT', body: 'four' })).status, 201);
  assert.equal((await postern.visit(`${link.base}/file/new.txt`)).status, 200);
  await waitForDigests(postern, 1);
  await passDigests(postern);
  const toAnn = await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  const toBob = await sink.waitFor(({ to }) => to[0] === 'bob@example.com');
  assert.equal(sink.mails.length, 2);
  assert.equal(headerOf(toAnn, 'subject'), 'Plans: 1 file uploaded and 1 download');
  assert.equal(headerOf(toBob, 'auto-submitted'), 'auto-generated');
  assert.notEqual(headerOf(toAnn, 'message-id'), headerOf(toBob, 'message-id'));
});

test('an alert names each action, the visitor, the time with its zone, the address and the link', async (t) => {
  const { postern, sink } = await startWithMail(t, { environment: { POSTERN_MAIL_TIME_ZONE: 'Asia/Tokyo' } });
  const profile = await usersProfile(postern, ['ann']);
  const link = await linkTo(postern, { ...owner, title: 'Plans', authenticationId: profile.id });
  const headers = { cookie: await signIn(postern, link.base, 'ann') };
  const send = (path: string, init: RequestInit = {}) =>
    postern.visit(link.base + path, { ...init, headers: { ...headers, ...init.headers } });
  await send('/file/new.txt', { method: 'PUT', body: 'four' });
  await send('/folder/made', { method: 'POST' });
  await send('/view/new.txt');
  await send('/zip');
  await send('/rename', posting({ path: 'new.txt', name: 'newer.txt' }));
  await send('/file/newer.txt', { method: 'DELETE' });
  await waitForDigests(postern, 1);
  await passDigests(postern);
  const text = textOf(await sink.waitFor());
  for (const line of [
    /^- Uploaded: \/new\.txt \(.* GMT\+9, 4 bytes\)$/m,
    /^- Folder created: \/made \(/m,
    /^- Viewed: \/new\.txt \(/m,
    /^- Downloaded as a ZIP file: the entire share \(/m,
    /^- Renamed: \/new\.txt → newer\.txt \(/m,
    /^- Deleted: \/newer\.txt \(/m,
    /^Who: ann$/m,
    /^IP address: 127\.0\.0\.1$/m,
    /^Link: http:\/\/localhost:\d+\/s\//m,
  ])
    assert.match(text, line);
});

test('a HEAD request, a 304 and further ranges of a download are no action of an alert', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await linkTo(postern, owner);
  const file = `${base}/file/welcome.txt`;
  const { headers } = await postern.visit(file, { method: 'HEAD' });
  assert.equal((await postern.visit(file, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status, 304);
  for (const range of ['bytes=0-3', 'bytes=4-7']) assert.equal((await postern.visit(file, { headers: { range } })).status, 206);
  await waitForDigests(postern, 1);
  await passDigests(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /: 1 download$/);
});

test('an alert goes to the addresses that the share has when it is sent', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const link = await linkTo(postern, owner);
  await postern.visit(`${link.base}/file/welcome.txt`);
  await waitForDigests(postern, 1);
  await postern.call('share/update', { ...(await postern.call('share/get', { id: link.id })), notifyEmails: 'other@example.com' });
  await passDigests(postern);
  assert.deepEqual((await sink.waitFor()).to, ['other@example.com']);
});

test('an alert names a hundred actions, and counts the others', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await linkTo(postern, owner);
  for (let count = 0; count < 103; count += 1) await postern.visit(`${base}/folder/folder-${count}`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await waitForCollection(postern);
  await passDigests(postern);
  const mail = await sink.waitFor();
  const text = textOf(mail);
  assert.match(headerOf(mail, 'subject'), /103 folders created/);
  assert.equal([...text.matchAll(/^- Folder created/gm)].length, 100);
  assert.match(text, /and 3 more actions/);
});

test('line breaks, direction marks and HTML in titles and names change no header and no markup of a mail', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const title = '<b>Plans</b>\u202ecod.exe & "more"';
  const { base } = await linkTo(postern, { ...owner, title });
  const name = '<img src=x onerror=alert(1)>\u202etxt.exe';
  assert.equal((await postern.visit(`${base}/file/${encodeURIComponent(name)}`, { method: 'PUT', body: 'x' })).status, 201);
  await waitForDigests(postern, 1);
  await passDigests(postern);
  const mail = await sink.waitFor();
  assert.doesNotMatch(headerOf(mail, 'subject') + textOf(mail) + htmlOf(mail), /[\u202a-\u202e\u2066-\u2069]/);
  assert.match(htmlOf(mail), /&lt;img src=x onerror=alert\(1\)&gt;/);
  assert.doesNotMatch(htmlOf(mail), /<img|<b>/);
  assert.doesNotMatch(htmlOf(mail), /(src|url\()=?["']?https?:/); // nothing is loaded from elsewhere
});

test('further actions of a visitor are collected for longer: five minutes, then fifteen, then an hour', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await linkTo(postern, owner);
  const pauses: number[] = [];
  for (let mail = 1; mail <= 5; mail += 1) {
    await postern.visit(`${base}/folder/${mail}`, { method: 'POST' });
    await waitForDigests(postern, 1);
    const { read } = postern.ports.store;
    await waitForCollection(postern);
    const [digest] = await read.selectFrom('alert_digest').selectAll().execute();
    pauses.push(Math.round(((digest?.due_at ?? 0) - Date.now()) / 60_000));
    await passDigests(postern);
    await until(() => sink.mails.length === mail);
  }
  assert.deepEqual(pauses, [1, 5, 15, 60, 60]);
});

test('at most twenty mails an hour about one share are sent, and later ones report the actions that waited', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base, id } = await linkTo(postern, owner);
  const { read, write } = postern.ports.store;
  const sent = { tid: 1, kind: 'alert' as const, share_id: id, language: 'en', data: '', pending: '', created_at: Date.now() };
  await write(
    (tx) =>
      tx
        .insertInto('mail_content')
        .values(Array.from({ length: 20 }, () => sent))
        .execute(),
    'job',
  );
  for (const name of ['x', 'y']) await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
  await until(async () => (await read.selectFrom('alert').selectAll().where('collected', '=', 1).execute()).length === 2);
  await passDigests(postern);
  await until(async () => (await read.selectFrom('alert_digest').selectAll().where('due_at', '>', 0).execute()).length === 1);
  assert.equal(sink.mails.length, 0);
  await write((tx) => tx.updateTable('mail_content').set({ created_at: 0 }).execute(), 'job'); // an hour has passed
  await passDigests(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /2 folders created/);
});

test('a mail reports no action whose audit entry was deleted, and the alert of that action is deleted after three days', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { store } = postern.ports;
  const { base } = await linkTo(postern, owner);
  for (const name of ['old', 'new']) await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
  await waitForCollection(postern);
  await store.write((tx) => tx.deleteFrom('audit').where('path', '=', '/old').execute(), 'job');
  await passDigests(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /1 folder created/);
  const alerts = () => store.read.selectFrom('alert').select('id').execute();
  assert.equal((await alerts()).length, 1);
  await store.write(
    (tx) =>
      tx
        .updateTable('alert')
        .set({ created_at: Date.now() - 3 * day - 1 })
        .execute(),
    'job',
  );
  await deleteExpiredRows(postern.ports);
  assert.deepEqual(await alerts(), []);
});
