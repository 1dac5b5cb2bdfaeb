import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millisecondsPerDay as day } from '#core/instant.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { AlertCollector } from '#features/mail/collect-alerts.ts';
import { planAlerts } from '#features/mail/plan-alerts.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, signIn, startPostern, type TestPostern } from '../start.ts';
import { createShare, jsonPostRequest } from '../visit/visiting.ts';
import { addMails, headerOf, htmlOf, makeDigestsDue, startWithMail, textOf, waitForDigests } from './mailing.ts';

const allAlerts = {
  alertView: true,
  alertDownload: true,
  alertUpload: true,
  alertCreateFolder: true,
  alertRename: true,
  alertDelete: true,
};
const alertsOf = ({ ports: { store } }: TestPostern) => store.read.selectFrom('alert').selectAll().execute();
const owner = { notifyEmails: 'owner@example.com', ...allAlerts };

test('actions of a visitor within a minute arrive in one mail to each address of the share', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const link = await createShare(postern, { ...owner, title: 'Plans', notifyEmails: 'ann@example.com, bob@example.com' });
  assert.equal((await postern.visit(`${link.base}/file/new.txt`, { method: 'PUT', body: 'four' })).status, 201);
  assert.equal((await postern.visit(`${link.base}/file/new.txt`)).status, 200);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const toAnn = await sink.waitFor(({ to }) => to[0] === 'ann@example.com');
  const toBob = await sink.waitFor(({ to }) => to[0] === 'bob@example.com');
  assert.equal(sink.mails.length, 2);
  assert.equal(headerOf(toAnn, 'subject'), 'Plans: 1 file uploaded and 1 download');
  assert.equal(headerOf(toBob, 'auto-submitted'), 'auto-generated');
  assert.notEqual(headerOf(toAnn, 'message-id'), headerOf(toBob, 'message-id'));
});

test('an alert mail names each action, the visitor, the time with its zone, the address and the link', async (t) => {
  const { postern, sink } = await startWithMail(t, { environment: { POSTERN_MAIL_TIME_ZONE: 'Asia/Tokyo' } });
  const profile = await createUsersProfile(postern, ['ann']);
  const link = await createShare(postern, { ...owner, title: 'Plans', authenticationId: profile.id });
  const headers = { cookie: await signIn(postern, link.base, 'ann') };
  const send = (path: string, init: RequestInit = {}) =>
    postern.visit(link.base + path, { ...init, headers: { ...headers, ...init.headers } });
  await send('/file/new.txt', { method: 'PUT', body: 'four' });
  await send('/folder/made', { method: 'POST' });
  await send('/view/new.txt');
  await send('/zip');
  await send('/rename', jsonPostRequest({ path: 'new.txt', name: 'newer.txt' }));
  await send('/file/newer.txt', { method: 'DELETE' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
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

test('actions from several addresses of one IPv6 site arrive in one mail, which names each address', async (t) => {
  const { postern, sink } = await startWithMail(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const { base } = await createShare(postern, owner);
  const addresses = ['2001:db8:1::1', '2001:db8:1::2', '2001:db8:1:2::1'];
  for (const [number, address] of addresses.entries()) {
    const headers = { 'x-forwarded-for': address };
    assert.equal((await postern.visit(`${base}/folder/${number}`, { method: 'POST', headers })).status, 201);
  }
  const visitors = new Set((await alertsOf(postern)).map(({ visitor }) => visitor));
  assert.equal(visitors.size, 1);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const text = textOf(await sink.waitFor());
  for (const address of addresses) assert.ok(text.includes(address), text);
});

test('an alert mail does not count HEAD requests, 304 responses and further ranges of a download', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, owner);
  const file = `${base}/file/welcome.txt`;
  const { headers } = await postern.visit(file, { method: 'HEAD' });
  assert.equal((await postern.visit(file, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status, 304);
  for (const range of ['bytes=0-3', 'bytes=4-7']) assert.equal((await postern.visit(file, { headers: { range } })).status, 206);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /: 1 download$/);
});

test('an alert goes to the addresses that the share has when the alert is sent', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const link = await createShare(postern, owner);
  await postern.visit(`${link.base}/file/welcome.txt`);
  await waitForDigests(postern, 1);
  await postern.call('share/update', { ...(await postern.call('share/get', { id: link.id })), notifyEmails: 'other@example.com' });
  await makeDigestsDue(postern);
  assert.deepEqual((await sink.waitFor()).to, ['other@example.com']);
});

test('an alert mail names a hundred actions, and counts the others', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, owner);
  for (let count = 0; count < 103; count += 1) await postern.visit(`${base}/folder/folder-${count}`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const mail = await sink.waitFor();
  const text = textOf(mail);
  assert.match(headerOf(mail, 'subject'), /103 folders created/);
  assert.equal([...text.matchAll(/^- Folder created/gm)].length, 100);
  assert.match(text, /and 3 more actions/);
});

test('an alert mail shows only the end of a long path or name, with the extension of the file', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, owner);
  const folders = Array.from({ length: 3 }, (_, index) => `${index}`.repeat(100));
  for (let depth = 1; depth <= folders.length; depth += 1)
    assert.equal((await postern.visit(`${base}/folder/${folders.slice(0, depth).join('/')}`, { method: 'POST' })).status, 201);
  const path = `${folders.join('/')}/plan \u{1f4c5}.txt`;
  const upload = await postern.visit(`${base}/file/${encodeURI(path)}`, { method: 'PUT', body: 'four' });
  assert.equal(upload.status, 201);
  const name = `${'new '.repeat(60)}.txt`;
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path, name }))).status, 200);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const text = textOf(await sink.waitFor());
  const end = `…${[...path].slice(-199).join('')}`;
  assert.ok(text.includes(`- Uploaded: ${end} (`), text);
  assert.ok(text.includes(`- Renamed: ${end} → …${name.slice(-199)} (`), text);
});

test('an alert mail is rendered once for all its recipients, each of whom gets a link of their own to unsubscribe', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const format = t.mock.method(Intl.ListFormat.prototype, 'format');
  const { base } = await createShare(postern, { ...owner, notifyEmails: 'ann@example.com, bob@example.com, eve@example.com' });
  await postern.visit(`${base}/folder/new`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  await until(() => sink.mails.length === 3);
  assert.equal(format.mock.callCount(), 3); // one call each for the actions, the visitors and their addresses
  for (const textOrHtml of [textOf, htmlOf])
    assert.equal(new Set(sink.mails.map((mail) => /http:\/\/[^"\s]*\/unsubscribe\/[^"\s]+/.exec(textOrHtml(mail))?.[0])).size, 3);
});

test('direction marks and HTML in titles and names change no header and no markup of a mail', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const title = '<b>Plans</b>\u202ecod.exe & "more"';
  const { base } = await createShare(postern, { ...owner, title });
  const name = '<img src=x onerror=alert(1)>\u202etxt.exe';
  assert.equal((await postern.visit(`${base}/file/${encodeURIComponent(name)}`, { method: 'PUT', body: 'x' })).status, 201);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  const mail = await sink.waitFor();
  assert.doesNotMatch(headerOf(mail, 'subject') + textOf(mail) + htmlOf(mail), /[\u202a-\u202e\u2066-\u2069]/);
  assert.match(htmlOf(mail), /&lt;img src=x onerror=alert\(1\)&gt;/);
  assert.doesNotMatch(htmlOf(mail), /<img|<b>/);
  assert.doesNotMatch(htmlOf(mail), /(src|url\()=?["']?https?:/); // nothing is loaded from elsewhere
});

test('further actions of a visitor are collected for longer: five minutes, then fifteen, then an hour', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, owner);
  const pauses: number[] = [];
  for (let mail = 1; mail <= 5; mail += 1) {
    await postern.visit(`${base}/folder/${mail}`, { method: 'POST' });
    await waitForDigests(postern, 1);
    const [digest] = await postern.ports.store.read.selectFrom('alert_digest').selectAll().execute();
    pauses.push(Math.round(((digest?.due_at ?? 0) - Date.now()) / 60_000));
    await makeDigestsDue(postern);
    await until(() => sink.mails.length === mail);
  }
  assert.deepEqual(pauses, [1, 5, 15, 60, 60]);
});

test('at most twenty mails an hour about one share are sent, and later mails report the actions that waited', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base, id } = await createShare(postern, owner);
  const { read, write } = postern.ports.store;
  const sentMail = { tid: 1, kind: 'alert' as const, share_id: id, language: 'en', data: '', pending: '', created_at: Date.now() };
  await write(
    (tx) =>
      tx
        .insertInto('mail_content')
        .values(Array.from({ length: 20 }, () => sentMail))
        .execute(),
    'job',
  );
  for (const name of ['x', 'y']) await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  await until(async () => (await read.selectFrom('alert_digest').selectAll().where('due_at', '>', 0).execute()).length === 1);
  assert.equal(sink.mails.length, 0);
  await write((tx) => tx.updateTable('mail_content').set({ created_at: 0 }).execute(), 'job'); // an hour has passed
  await makeDigestsDue(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /2 folders created/);
});

test('an alert whose audit entry was deleted is not reported, and is deleted with the others', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { store } = postern.ports;
  const { base } = await createShare(postern, owner);
  for (const name of ['old', 'new']) await postern.visit(`${base}/folder/${name}`, { method: 'POST' });
  await waitForDigests(postern, 1);
  await store.write((tx) => tx.deleteFrom('audit').where('path', '=', '/old').execute(), 'job');
  await makeDigestsDue(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /1 folder created/);
  assert.deepEqual(await alertsOf(postern), []);
});

test('the alerts of a tenant with 20,000 waiting mails are collected until fewer mails wait', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { store } = postern.ports;
  const share = await createShare(postern, owner);
  await addMails(
    postern,
    Array.from({ length: 20_000 }, (_, number) => ({ tid: 1, recipient: `waiting-${number}@example.com` })),
    Date.now() + 3_600_000,
  );
  await postern.visit(`${share.base}/file/welcome.txt`);
  await waitForDigests(postern, 1);
  await makeDigestsDue(postern);
  await until(async () => {
    const digest = await store.read.selectFrom('alert_digest').select('due_at').executeTakeFirst();
    return (digest?.due_at ?? 0) > Date.now();
  });
  assert.deepEqual(sink.mails, []);
  await store.write((tx) => tx.deleteFrom('delivery').where('recipient', '=', 'waiting-0@example.com').execute(), 'job');
  await makeDigestsDue(postern);
  await sink.waitFor((mail) => /\b1 download/.test(headerOf(mail, 'subject')));
});

test('alerts that cannot be mailed are deleted after three days', async (t) => {
  const postern = await startPostern(t); // without mail
  const { store } = postern.ports;
  const { base } = await createShare(postern, owner);
  await postern.visit(`${base}/folder/new`, { method: 'POST' });
  assert.equal((await alertsOf(postern)).length, 1);
  await store.write(
    (tx) =>
      tx
        .updateTable('alert')
        .set({ created_at: Date.now() - 3 * day - 1 })
        .execute(),
    'job',
  );
  await deleteExpiredRows(postern.ports);
  assert.deepEqual(await alertsOf(postern), []);
});

test('the actions of each of 1,501 visitors are reported, including actions that another process recorded', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { base } = await createShare(postern, owner);
  await postern.visit(`${base}/folder/new`, { method: 'POST' });
  const [first] = await alertsOf(postern);
  assert.ok(first);
  const others = Array.from({ length: 1500 }, (_, number) => ({ ...first, visitor: `address 192.0.2.${number}` }));
  await postern.ports.store.write((tx) => tx.insertInto('alert').values(others).execute(), 'job');
  await waitForDigests(postern, 1501);
  await makeDigestsDue(postern);
  await until(() => sink.mails.length === 16); // each mail reports up to 100 visitors
  assert.deepEqual(await alertsOf(postern), []);
});

test('a mail about 2,000 actions of one visitor leaves the action of another visitor for the next mail', async (t) => {
  const { postern, sink } = await startWithMail(t);
  const { read, write } = postern.ports.store;
  const { base } = await createShare(postern, owner);
  await postern.visit(`${base}/folder/new`, { method: 'POST' });
  await waitForDigests(postern, 1);
  const [alert] = await alertsOf(postern);
  const { id, ...entry } = await read.selectFrom('audit').selectAll().where('action', '=', 'createFolder').executeTakeFirstOrThrow();
  assert.ok(alert);
  for (let at = 1; at <= 2000; at += 500)
    await write(async (tx) => {
      const batch = Array.from({ length: 500 }, (_, number) => id + at + number);
      await tx
        .insertInto('audit')
        .values(batch.map((audit_id) => ({ ...entry, id: audit_id })))
        .execute();
      const visitor = (audit_id: number) => (audit_id === id + 2000 ? 'address 192.0.2.9' : alert.visitor);
      await tx
        .insertInto('alert')
        .values(batch.map((audit_id) => ({ ...alert, audit_id, visitor: visitor(audit_id) })))
        .execute();
    }, 'job');
  await waitForDigests(postern, 2);
  await makeDigestsDue(postern);
  assert.match(headerOf(await sink.waitFor(), 'subject'), /2,?000 folders created/);
  await until(async () => (await read.selectFrom('alert_digest').selectAll().where('due_at', '>', 0).execute()).length === 2);
  await makeDigestsDue(postern);
  await sink.waitFor((mail) => /\b1 folder created/.test(headerOf(mail, 'subject')));
});

/** Adds a digest for each of some visitors of a share. @param dueAt ms since the epoch */
async function addDigests({ ports: { store } }: TestPostern, share_id: number, visitors: readonly string[], dueAt: number): Promise<void> {
  const digests = visitors.map((visitor) => ({ tid: 1, share_id, visitor, due_at: dueAt, step: 0 }));
  await store.write((tx) => tx.insertInto('alert_digest').values(digests).execute(), 'job');
}

const visitorNames = (count: number) => Array.from({ length: count }, (_, number) => `visitor ${number}`);

test('while the alerts of thousands of visitors are searched, Postern answers other requests in between', async (t) => {
  const postern = await startPostern(t); // without mail
  const { store } = postern.ports;
  const { id } = await createShare(postern, owner);
  const visitors = visitorNames(5000);
  const alerts = visitors.map((visitor) => ({ tid: 1, share_id: id, visitor, audit_id: 1_000_000, action: 'view', created_at: 0 }));
  await store.write((tx) => tx.insertInto('alert').values(alerts).execute(), 'job');
  await addDigests(postern, id, visitors, 0);
  let turns = 0; // iterations of the event loop
  let isSearching = true;
  const countTurns = () => {
    turns += 1;
    if (isSearching) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  assert.equal(await new AlertCollector(store, () => 0, 1000).hasWork(), false);
  isSearching = false;
  assert.ok(turns >= 5, `${turns} turns`);
});

for (const { time, mails, pending } of [
  { time: 'after twenty mails about a share in an hour', mails: 20, pending: '' },
  { time: 'while a mail to many recipients is being added', mails: 1, pending: 'ann@example.com' },
])
  test(`${time}, the alerts of thousands of visitors are postponed in parts, so that other changes can run in between`, async (t) => {
    const postern = await startPostern(t); // without mail
    const { store } = postern.ports;
    const { id } = await createShare(postern, owner);
    await addDigests(postern, id, visitorNames(2500), 0);
    const mail = { tid: 1, kind: 'alert' as const, share_id: id, language: 'en', data: '', pending, created_at: Date.now() };
    await store.write(
      (tx) =>
        tx
          .insertInto('mail_content')
          .values(Array.from({ length: mails }, () => mail))
          .execute(),
      'job',
    );
    const dueCounts: number[] = [];
    const countingWrite: typeof store.write = async (change, ...rest) => {
      const value = await store.write(change, ...rest);
      dueCounts.push((await store.read.selectFrom('alert_digest').select('visitor').where('due_at', '=', 0).execute()).length);
      return value;
    };
    const ports = { ...postern.ports, store: { ...store, write: countingWrite } };
    await planAlerts(ports, { language: 'en', domain: 'example.com' }, new AbortController().signal);
    assert.deepEqual(dueCounts, [1500, 500, 0, 0]);
  });

test('planning a mail deletes at most 2,000 alerts in one transaction, even if their audit entries were deleted', async (t) => {
  const postern = await startPostern(t); // without mail
  const { store } = postern.ports;
  const { id } = await createShare(postern, owner);
  const [ofShare, visitor] = [{ tid: 1, share_id: id }, 'address 192.0.2.1'];
  const alerts = Array.from({ length: 2001 }, (_, at) => ({
    ...ofShare,
    visitor,
    audit_id: 1_000_000 + at,
    action: 'view',
    created_at: 0,
  }));
  await store.write(async (tx) => {
    for (let at = 0; at < alerts.length; at += 500)
      await tx
        .insertInto('alert')
        .values(alerts.slice(at, at + 500))
        .execute();
    await tx
      .insertInto('alert_digest')
      .values({ ...ofShare, visitor, due_at: 0, step: 0 })
      .execute();
  }, 'job');
  await planAlerts(postern.ports, { language: 'en', domain: 'example.com' }, new AbortController().signal);
  assert.deepEqual(
    (await alertsOf(postern)).map(({ audit_id }) => audit_id),
    [1_002_000],
  );
});
