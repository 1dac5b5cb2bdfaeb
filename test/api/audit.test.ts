import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResponseOf } from '#features/operation-types.ts';
import { logLines } from '../parts/log-lines.ts';
import { adminKey, createUsersProfile, type Json, newShare, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const columns = [
  'id',
  'dateTime',
  'tid',
  'actor',
  'actorKind',
  'address',
  'action',
  'outcome',
  'shareId',
  'shareTitle',
  'viewId',
  'path',
  'bytes',
  'before',
  'after',
  'requestId',
  'count',
];
const exportAudit = (postern: TestPostern, query: string) =>
  fetch(`${postern.apiUrl}/api/v1/audit/export${query}`, { headers: { authorization: `Bearer ${adminKey}` } });
const searchAudit = async (postern: TestPostern, query: object): Promise<Json[]> => (await postern.call('audit/search', query)).list;

test('a change adds an audit entry with the caller, action, address, and the values before and after', async (t) => {
  const postern = await startPostern(t);
  const key = await addKey(postern, 'editor');
  const { body, headers } = await postern.send('share/add', newShare({ title: 'Before' }), { key });
  await postern.call('share/update', { ...(await postern.call('share/get', { id: body.id })), title: 'After' }, { key });
  const [row] = await searchAudit(postern, { action: 'share/add' });
  assert.deepEqual(Object.keys(row).sort(), [...columns].sort());
  assert.deepEqual(
    [row.actor, row.actorKind, row.outcome, row.shareId, row.shareTitle, row.viewId, row.requestId, row.count, row.tid],
    ['editor key', 'key', 'done', body.id, 'Before', body.viewId, headers.get('x-request-id'), 1, 1],
  );
  assert.notEqual(row.address, '');
  const [update] = await searchAudit(postern, { action: 'share/update' });
  assert.match(JSON.stringify(update.before), /Before/);
  assert.match(JSON.stringify(update.after), /After/);
});

test('the audit entry of a change omits a long list that did not change', async (t) => {
  const postern = await startPostern(t);
  const emails = (domain: string) => Array.from({ length: 100 }, (_, index) => `person-${index}@${domain}`).join(',');
  const { id } = await postern.call('share/add', newShare({ notifyEmails: emails('one.example') }));
  const share = await postern.call('share/get', { id });
  await postern.call('share/update', { ...share, title: 'Another' });
  await postern.call('share/update', { ...share, title: 'Another', notifyEmails: emails('two.example') });
  const [titleChange, emailChange] = await searchAudit(postern, { action: 'share/update' });
  assert.deepEqual([titleChange.before.includes('example'), titleChange.after.includes('example')], [false, false]);
  assert.deepEqual([titleChange.before.includes('"title"'), titleChange.after.includes('Another')], [true, true]);
  assert.deepEqual([emailChange.before.includes('one.example'), emailChange.after.includes('two.example')], [true, true]);
});

for (const [action, run] of [
  ['accessuser/add', async (postern: TestPostern) => postern.call('accessuser/add', { username: 'ann', active: true })],
  [
    'share/duplicate',
    async (postern: TestPostern) =>
      postern.call('share/duplicate', { id: (await postern.call('share/add', newShare())).id, title: 'Copy' }),
  ],
  ['share/delete', async (postern: TestPostern) => postern.call('share/delete', { id: (await postern.call('share/add', newShare())).id })],
  [
    'share/updateSharableLink',
    async (postern: TestPostern) => postern.call('share/updateSharableLink', { id: (await postern.call('share/add', newShare())).id }),
  ],
  ['loginprofile/add', async (postern: TestPostern) => postern.call('loginprofile/add', {})],
  ['loginprofile/updateViewId', async (postern: TestPostern) => postern.call('loginprofile/updateViewId', { id: 1 })],
  [
    'loginprofile/makeDefault',
    async (postern: TestPostern) => postern.call('loginprofile/makeDefault', { id: (await postern.call('loginprofile/add', {})).id }),
  ],
  ['apikey/add', async (postern: TestPostern) => postern.call('apikey/add', { name: 'x', role: 'reader' })],
  [
    'apikey/delete',
    async (postern: TestPostern) =>
      postern.call('apikey/delete', { id: (await postern.call('apikey/add', { name: 'x', role: 'reader' })).id }),
  ],
  ['tenant/add', async (postern: TestPostern) => postern.call('tenant/add', { title: 'x' })],
] as const)
  test(`${action} adds exactly one audit entry`, async (t) => {
    const postern = await startPostern(t);
    await run(postern);
    const rows = await searchAudit(postern, { action, outcome: 'done' });
    assert.equal(rows.length, 1);
    assert.equal(rows[0].actor, 'environment');
  });

test('the audit entry of a new share contains all fields that share/get returns', async (t) => {
  const postern = await startPostern(t);
  const users = await createUsersProfile(postern, ['ann', 'bob']);
  const lists = { allowAllUsers: false, userNames: 'BOB, ann', groupNames: '"a, b", c' };
  for (const over of [{}, { authenticationId: users.id }, { authenticationId: users.id, ...lists }]) {
    const { id } = await postern.call('share/add', newShare({ notifyEmails: 'a@example.com', validityEndDate: '2099-01-01', ...over }));
    const { list } = await postern.call('audit/search', { action: 'share/add', shareId: id });
    assert.deepEqual(JSON.parse(list[0].after), await postern.call('share/get', { id }));
  }
});

test('audit/search filters by share, username, action, outcome, word and time', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare({ title: 'Ledger' }));
  await postern.call('share/add', newShare({ title: 'Other' }));
  await postern.visit(`/s/${viewId}/file/welcome.txt`);
  const downloads = await searchAudit(postern, { shareId: id, action: 'download' });
  assert.deepEqual(
    downloads.map(({ actorKind, path }: Json) => [actorKind, path.replace(/^\//, '')]),
    [['visitor', 'welcome.txt']],
  );
  const ledgerEntries = await searchAudit(postern, { searchWord: 'ledger' });
  assert.ok(ledgerEntries.length > 0);
  for (const { shareId } of ledgerEntries) assert.equal(shareId, id);
  assert.deepEqual(await searchAudit(postern, { username: 'nobody-of-that-name' }), []);
  assert.deepEqual(await searchAudit(postern, { fromDate: '2999-01-01' }), []);
  assert.deepEqual(await searchAudit(postern, { toDate: '2001-01-01' }), []);
  assert.deepEqual(await searchAudit(postern, { outcome: 'failed' }), []);
  assert.equal((await searchAudit(postern, { username: 'environment', action: 'share/add' })).length, 2);
  assert.deepEqual(fieldErrorsOf(await postern.send('audit/search', { outcome: 'great', actoin: 'x' })), ['actoin', 'outcome']);
});

test('an NDJSON export has the same entries as a search, and no cell of a CSV export begins like a formula', async (t) => {
  const postern = await startPostern(t);
  await postern.call('share/add', newShare({ title: '=cmd|"x",y' }));
  const rows = await searchAudit(postern, { sortField: 'id' });
  const ndjson = await exportAudit(postern, '');
  assert.match(ndjson.headers.get('content-type') ?? '', /^application\/x-ndjson/);
  assert.deepEqual(
    (await ndjson.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    rows,
  );
  const csv = await exportAudit(postern, '?format=csv');
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  const text: ResponseOf<'audit/export'> = await csv.text();
  assert.equal(text.split(/\r?\n/)[0], columns.join(','));
  assert.ok(!/(^|,)"?=cmd/m.test(text), 'no cell begins like a formula');
  assert.deepEqual((await (await exportAudit(postern, '?action=share/add')).text()).trimEnd().split('\n').length, 1);
  assert.equal((await exportAudit(postern, '?format=xml')).status, 400);
});

test('a refused change has no audit entry with the outcome done', async (t) => {
  const postern = await startPostern(t);
  await postern.send('share/add', newShare({ location: 'nowhere' }));
  await postern.send('loginprofile/delete', { id: 1 });
  assert.deepEqual(
    (await searchAudit(postern, { outcome: 'done' })).filter(({ action }: Json) => ['share/add', 'loginprofile/delete'].includes(action)),
    [],
  );
});

test('an export stops when its key is deleted, and contains no entries that were added after it began', async (t) => {
  const { log, errors } = logLines();
  const postern = await startPostern(t, { replacements: { log } });
  const { id, key } = await postern.call('apikey/add', { name: 'auditor', role: 'admin' });
  await postern.ports.store.write(async (tx) => {
    const { id: _, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const rows = Array.from({ length: 300 }, () => ({ ...row, after: JSON.stringify('x'.repeat(60_000)) }));
    await tx.insertInto('audit').values(rows).execute();
  }, 'job');
  const beginExport = async () => {
    const answer = await fetch(`${postern.apiUrl}/api/v1/audit/export`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200);
    return answer;
  };
  const [readExport, stoppedExport] = [await beginExport(), await beginExport()]; // of each export, only the first part has arrived
  await postern.call('share/add', newShare({ title: 'ADDED LATER' }));
  assert.doesNotMatch(await readExport.text(), /ADDED LATER/);
  await postern.call('apikey/delete', { id });
  await assert.rejects(stoppedExport.text());
  assert.deepEqual(errors(), []);
});

test('many aborted exports log no error and do not block a later export', async (t) => {
  const { log, errors } = logLines();
  const postern = await startPostern(t, { replacements: { log } });
  await postern.call('share/add', newShare());
  const startExport = (signal?: AbortSignal) =>
    fetch(`${postern.apiUrl}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${adminKey}` },
      ...(signal ? { signal } : {}),
    });
  const client = new AbortController();
  const abortedExports = Array.from({ length: 40 }, () => startExport(client.signal).catch(() => null));
  client.abort();
  await Promise.all(abortedExports);
  assert.match(await (await startExport()).text(), /"action"/);
  assert.deepEqual(errors(), []);
});
