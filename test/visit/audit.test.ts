import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VisitAudit } from '#features/audit/visit-audit.ts';
import { type Store, StoreUnavailable } from '#ports/store.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, signIn, startPostern, temporaryFolder } from '../start.ts';
import { basicAuthorization, createShare, jsonPostRequest, minute, noPermissions, sendPath, settableClock } from './visiting.ts';

const everyAlert = {
  alertView: true,
  alertDownload: true,
  alertUpload: true,
  alertCreateFolder: true,
  alertRename: true,
  alertDelete: true,
};

async function startWithAuditLog(t: TestContext, over: object = {}) {
  const [data, clock] = [await temporaryFolder(t), settableClock()];
  const postern = await startPostern(t, { data, replacements: { ports: { clock } } });
  const { id } = await createUsersProfile(postern);
  const link = await createShare(postern, { authenticationId: id, notifyEmails: 'owner@example.com', ...over });
  const cookie = await signIn(postern, link.base, 'ann');
  const request = (path: string, method = 'GET', body = '') =>
    sendPath(postern, link.base + path, {
      method,
      body,
      headers: { cookie, ...(body.startsWith('{') ? { 'content-type': 'application/json' } : {}) },
    });
  /** Restarts the server, so that all entries are written, and returns the audit entries of visitors and the alerts. */
  async function readAuditLog() {
    await postern.stop();
    const restarted = await startPostern(t, { data, replacements: { ports: { clock } } });
    const { read } = restarted.ports.store;
    const rows = await read.selectFrom('audit').selectAll().where('actor_kind', '=', 'visitor').orderBy('id').execute();
    return {
      rows,
      alerts: await read.selectFrom('alert').selectAll().orderBy('audit_id').execute(),
    };
  }
  return { clock, postern, link, request, readAuditLog };
}

async function takeEachAction(request: (path: string, method?: string, body?: string) => Promise<unknown>): Promise<void> {
  await request('/visit');
  await request('/list');
  await request('/view/welcome.txt');
  await request('/file/welcome.txt');
  await request('/zip');
  await request('/file/new.txt', 'PUT', 'four');
  await request('/folder/made', 'POST');
  await request('/rename', 'POST', JSON.stringify({ path: 'new.txt', name: 'newer.txt' }));
  await request('/file/newer.txt', 'DELETE');
}

test('each visitor action creates one audit entry with the action, address, outcome and, except for a sign-out, the actor', async (t) => {
  const { request, readAuditLog, link } = await startWithAuditLog(t);
  await takeEachAction(request);
  await request('/sign-out', 'POST');
  const { rows } = await readAuditLog();
  for (const action of [
    'sign-in',
    'visit',
    'list',
    'view',
    'download',
    'downloadFolder',
    'upload',
    'createFolder',
    'rename',
    'delete',
    'sign-out',
  ]) {
    const [row, ...more] = rows.filter((candidate) => candidate.action === action && candidate.outcome === 'done');
    assert.ok(row, action);
    assert.deepEqual(more, [], action);
    assert.equal(row.share_id, link.id, action);
    assert.equal(row.view_id, link.viewId, action);
    assert.match(row.address, /127\.0\.0\.1|::1/, action);
    if (action !== 'sign-out') assert.equal(row.actor, 'ann', action);
    assert.notEqual(row.request_id, '');
  }
  assert.equal(rows.find(({ action }) => action === 'upload')?.bytes, 4);
  assert.equal(rows.find(({ action }) => action === 'upload')?.path, '/new.txt');
  assert.ok(Number(rows.find(({ action }) => action === 'download')?.bytes) > 0);
  assert.ok(!rows.some(({ outcome }) => outcome === 'begun'));
});

test('each action whose alert is on creates one alert for that action', async (t) => {
  const { request, readAuditLog, link } = await startWithAuditLog(t, everyAlert);
  await takeEachAction(request);
  const { alerts } = await readAuditLog();
  assert.deepEqual(alerts.map(({ action }) => action).sort(), [
    'createFolder',
    'delete',
    'download',
    'downloadFolder',
    'rename',
    'upload',
    'view',
  ]);
  for (const alert of alerts) assert.equal(alert.share_id, link.id);
});

test('no alert is created if the alerts are off or notifyEmails is empty', async (t) => {
  const withoutAlerts = await startWithAuditLog(t);
  await takeEachAction(withoutAlerts.request);
  assert.deepEqual((await withoutAlerts.readAuditLog()).alerts, []);
  const withoutRecipients = await startWithAuditLog(t, { ...everyAlert, notifyEmails: '' });
  await takeEachAction(withoutRecipients.request);
  assert.deepEqual((await withoutRecipients.readAuditLog()).alerts, []);
});

test('a refused action creates an audit entry with the outcome refused, and no alert', async (t) => {
  const { request, readAuditLog } = await startWithAuditLog(t, { ...everyAlert, ...noPermissions });
  await takeEachAction(request);
  const { rows, alerts } = await readAuditLog();
  assert.deepEqual(alerts, []);
  for (const action of ['list', 'view', 'download', 'downloadFolder', 'upload', 'createFolder', 'rename', 'delete'])
    assert.deepEqual(
      rows.filter((row) => row.action === action).map(({ outcome }) => outcome),
      ['refused'],
      action,
    );
});

test('requests for one file within ten minutes count as one download, and their bytes are added up', async (t) => {
  const { request, clock, readAuditLog } = await startWithAuditLog(t, everyAlert);
  const size = (await request('/file/welcome.txt')).bytes.length;
  await request('/file/welcome.txt');
  await request('/file/welcome.txt', 'HEAD');
  clock.advance(10 * minute);
  await request('/file/welcome.txt');
  const { rows, alerts } = await readAuditLog();
  assert.deepEqual(
    rows.filter(({ action }) => action === 'download').map(({ bytes }) => bytes),
    [2 * size, size],
  );
  assert.equal(alerts.length, 2);
});

test('a HEAD request does not count as a download', async (t) => {
  const { request, readAuditLog } = await startWithAuditLog(t, everyAlert);
  await request('/file/welcome.txt', 'HEAD');
  await request('/zip', 'HEAD');
  const { rows, alerts } = await readAuditLog();
  assert.deepEqual(
    rows.filter(({ action }) => action.startsWith('download')),
    [],
  );
  assert.deepEqual(alerts, []);
});

test('equal visits, listings and refusals within a minute share one audit entry with a count', async (t) => {
  const { request, clock, readAuditLog } = await startWithAuditLog(t, { canDelete: false });
  const requestEach = async () => {
    for (const path of ['/visit', '/list']) await request(path);
    await request('/file/welcome.txt', 'DELETE');
  };
  for (let round = 0; round < 3; round += 1) await requestEach();
  clock.advance(minute);
  await requestEach();
  const { rows } = await readAuditLog();
  for (const [action, first] of [
    ['visit', 4], // the sign-in is the first of them: its response shows the share
    ['list', 3],
    ['delete', 3],
  ] as const)
    assert.deepEqual(
      rows.filter((row) => row.action === action).map(({ count }) => count),
      [first, 1],
      action,
    );
});

test('repeated sign-ins of a user within a minute share one audit entry with a count', async (t) => {
  const { postern, link, clock, readAuditLog } = await startWithAuditLog(t);
  for (let round = 0; round < 3; round += 1) await signIn(postern, link.base, 'ann');
  clock.advance(minute);
  await signIn(postern, link.base, 'ann');
  const { rows } = await readAuditLog();
  assert.deepEqual(
    rows.filter(({ action }) => action === 'sign-in').map(({ count, actor }) => [count, actor]),
    [
      [4, 'ann'], // including the sign-in of the setup
      [1, 'ann'],
    ],
  );
});

test('a visitor who requests many different archives of a folder creates a bounded number of audit entries', async (t) => {
  const { request, postern, clock, readAuditLog } = await startWithAuditLog(t, everyAlert);
  const names = Array.from({ length: 6 }, (_, index) => `file-${index}`);
  await Promise.all(names.map((name) => writeFile(join(postern.files, name), name)));
  const choices = Array.from({ length: 63 }, (_, choice) => names.filter((_name, index) => (choice + 1) & (1 << index)));
  const archiveOf = (choice: readonly string[]) => request(`/zip?${choice.map((name) => `name=${name}`).join('&')}`);
  for (const choice of choices) await archiveOf(choice);
  clock.advance(10 * minute);
  await archiveOf(names);
  const rows = (await readAuditLog()).rows.filter(({ action }) => action === 'downloadFolder');
  assert.deepEqual(
    rows.map(({ after }) => JSON.parse(after ?? '').names),
    [...choices.slice(0, 30), [], names],
  );
});

test('visits from several addresses of one IPv6 network share one audit entry', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const { base, id } = await createShare(postern);
  for (const end of ['1', '2', '3:4']) await sendPath(postern, `${base}/visit`, { headers: { 'x-forwarded-for': `2001:db8:1:2::${end}` } });
  const rows = async () => (await postern.call('audit/search', { shareId: id, action: 'visit' })).list;
  await until(async () => (await rows())[0]?.count === 3);
  assert.equal((await rows()).length, 1);
});

test('a visit while the database is unavailable is recorded later with its original time', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base, id } = await createShare(postern);
  const { store } = postern.ports;
  const at = clock.now();
  const writeMock = t.mock.method(store, 'write', () => Promise.reject(new StoreUnavailable('the database is unavailable')));
  await sendPath(postern, `${base}/visit`);
  await until(() => writeMock.mock.callCount() > 0);
  clock.advance(minute);
  writeMock.mock.restore();
  const rows = async () => (await postern.call('audit/search', { shareId: id, action: 'visit' })).list;
  await until(async () => (await rows()).length === 1);
  assert.equal(Date.parse((await rows())[0].dateTime), at);
});

test('a failed sign-in is recorded without the password, and a visit to an unknown link is not recorded', async (t) => {
  const { postern, link, readAuditLog } = await startWithAuditLog(t);
  await postern.visit(`${link.base}/sign-in`, jsonPostRequest({ username: 'ann', password: 'a very wrong secret' }));
  await postern.visit('/s/neverexistedatall/visit');
  const { rows } = await readAuditLog();
  assert.deepEqual(
    rows
      .filter(({ action }) => action === 'sign-in')
      .map(({ outcome }) => outcome)
      .sort(),
    ['done', 'refused'],
  );
  assert.doesNotMatch(JSON.stringify(rows), /a very wrong secret|correct horse battery/);
  assert.equal(rows.filter(({ action }) => action === 'visit').length, 1); // of the successful sign-in, whose response shows the share
});

test('failed sign-ins at a link from one site, by form or by Basic authentication, share one audit entry without the typed names', async (t) => {
  const { postern, link, readAuditLog } = await startWithAuditLog(t);
  const { viewId } = await postern.call('loginprofile/get', { id: (await postern.call('share/get', { id: link.id })).authenticationId });
  for (const username of ['nobody', 'somebody', 'a typed password'])
    await postern.visit(`${link.base}/sign-in`, jsonPostRequest({ username, password: 'wrong password' }));
  const headers = { authorization: basicAuthorization('stranger', 'wrong password') };
  await postern.visit(`${link.base}/list`, { headers });
  await postern.visit(`/p/${viewId}/visit`, { headers });
  const { rows } = await readAuditLog();
  const refusedSignIns = rows.filter(({ action, outcome }) => action === 'sign-in' && outcome === 'refused');
  assert.deepEqual(
    refusedSignIns.map(({ share_id, count }) => [share_id, count]),
    [
      [link.id, 4],
      [null, 1],
    ],
  );
  assert.doesNotMatch(JSON.stringify(rows), /nobody|somebody|typed password|stranger/);
});

const event = { link: null, tid: 1, visitor: null, visitorRequest: { address: '::1', requestId: '' }, outcome: 'refused' } as const;

test('all audit entries are on disk when the process ends, regardless of the order in which the writes finish', async (t) => {
  const { store, clock, process } = (await startPostern(t)).ports;
  const second = Promise.withResolvers<void>();
  let writes = 0;
  const firstAwaitsSecond: Store = {
    ...store,
    async write(change, ...rest) {
      writes += 1;
      if (writes === 1) await second.promise;
      const result = await store.write(change, ...rest);
      second.resolve();
      return result;
    },
  };
  const audit = new VisitAudit(
    { store: firstAwaitsSecond, clock, process },
    (cause) => assert.ifError(cause),
    () => assert.fail(),
  );
  audit.recordInBackground({ ...event, action: 'rename', path: '' });
  audit.recordInBackground({ ...event, action: 'delete', path: '' });
  await audit[Symbol.asyncDispose]();
  const rows = await store.read.selectFrom('audit').select('action').where('outcome', '=', 'refused').orderBy('action').execute();
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['delete', 'rename'],
  );
});

test('audit entries from a database outage are written in batches, and an invalid entry does not block the others', async (t) => {
  const { store, clock, process } = (await startPostern(t)).ports;
  let [isUnavailable, writes, failures] = [true, 0, 0];
  const write: Store['write'] = (change, ...rest) => {
    writes += 1;
    return isUnavailable ? Promise.reject(new StoreUnavailable('the database is unavailable')) : store.write(change, ...rest);
  };
  const countFailure = () => {
    failures += 1;
  };
  const audit = new VisitAudit({ store: { ...store, write }, clock, process }, countFailure, () => assert.fail());
  const recordEntries = (from: number) => {
    for (let index = from; index < from + 500; index += 1) audit.recordInBackground({ ...event, action: 'rename', path: `/${index}` });
  };
  recordEntries(0);
  await until(() => failures > 64); // more than the writes that run at once, so a batch has failed, too
  recordEntries(500);
  assert.ok(writes < 100 && failures < 100, `${writes} writes were attempted, ${failures} failures were logged`);
  audit.recordInBackground({ ...event, tid: 999, action: 'rename', path: '/of no tenant' });
  isUnavailable = false;
  await audit[Symbol.asyncDispose]();
  const { rows } = await store.read
    .selectFrom('audit')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('action', '=', 'rename')
    .executeTakeFirstOrThrow();
  assert.equal(rows, 1000);
});

test('a complete download keeps the outcome done if the visitor starts a second download and cancels it', async (t) => {
  const { store, clock, process } = (await startPostern(t)).ports;
  for (const [outcome, bytes] of [
    ['done', 10],
    ['failed', 4],
  ] as const) {
    await using audit = new VisitAudit(
      { store, clock, process },
      (cause) => assert.ifError(cause),
      () => assert.fail(),
    );
    const download = await audit.beginTransfer({ ...event, outcome: 'begun', action: 'download', path: '/a' }, '"1"', false);
    download.end(outcome, bytes);
  }
  const rows = await store.read.selectFrom('audit').select(['outcome', 'bytes']).where('action', '=', 'download').execute();
  assert.deepEqual(
    rows.map((row) => [row.outcome, row.bytes]),
    [['done', 14]],
  );
});
