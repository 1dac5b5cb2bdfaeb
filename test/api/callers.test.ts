import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/features/operations.ts';
import { until } from '../ports/until.ts';
import { adminKey, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const readerOperations = [
  'accessuser/get',
  'accessuser/search',
  'caller/get',
  'operator/updatePassword', // the reader's own password; `operators.test.ts` tests the passwords of others
  'overview/get',
  'share/lastVisits',
  'tenant/getPolicy',
  'share/get',
  'share/search',
  'share/explain',
  'share/activity',
  'share/unfinishedUploads',
  'loginprofile/get',
  'loginprofile/search',
  'operator/getSecondFactors',
  'operator/prepareTotp',
  'operator/addTotp',
  'operator/preparePasskey',
  'operator/addPasskey',
  'operator/deleteSecondFactor',
  'operator/renewRecoveryCodes',
];
const editorOperations = [
  'accessuser/update',
  'accessuser/updateUserPassword',
  'accessuser/add',
  'accessuser/addMany',
  'accessuser/delete',
  'accessuser/deleteByUsername',
  'share/add',
  'share/update',
  'share/updateSharableLink',
  'share/duplicate',
  'share/invite',
  'share/previewInvitation',
  'mail/deliveries',
  'share/delete',
  'location/search',
  'location/browse',
];
const adminOperations = [
  'loginprofile/update',
  'loginprofile/updateViewId',
  'loginprofile/duplicate',
  'loginprofile/add',
  'loginprofile/delete',
  'loginprofile/makeDefault',
  'apikey/add',
  'apikey/delete',
  'apikey/search',
  'location/add',
  'location/update',
  'location/get',
  'location/delete',
  'location/test',
  'loginprofile/test',
  'loginprofile/testSignIn',
  'audit/search',
  'audit/export',
  'audit/trace',
  'operator/add',
  'operator/update',
  'operator/delete',
  'operator/search',
  'operator/resetSecondFactors',
  'operator/unlinkProvider',
  'tenant/add',
  'tenant/search',
  'tenant/updatePolicy',
  'signature/get',
  'signature/update',
  'signature/test',
  'signature/delete',
  'mail/retry',
  'mail/drop',
  'mail/test',
];

test('every operation has a role in this test', () =>
  assert.deepEqual([...readerOperations, ...editorOperations, ...adminOperations].sort(), operations.map(({ name }) => name).sort()));

test('every operation answers a request without a valid key with 401 and a Bearer challenge', async (t) => {
  const postern = await startPostern(t);
  for (const name of [...readerOperations, ...editorOperations, ...adminOperations])
    for (const headers of [{}, { authorization: 'Basic YTpi' }] as Record<string, string>[]) {
      const answer = await postern.send(name, {}, { key: null, headers });
      assert.equal(answer.status, 401, name);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
    }
  const wrong = await postern.send('share/search', {}, { key: 'pst_not-a-key-of-anybody' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.headers.get('www-authenticate') ?? '', /^Bearer/);
});

for (const [role, refusedOperations] of [
  ['reader', [...editorOperations, ...adminOperations]],
  ['editor', adminOperations],
] as const)
  test(`a key with the role ${role} gets 403 for operations outside its role, before the body is checked`, async (t) => {
    const postern = await startPostern(t);
    const key = await addKey(postern, role);
    for (const name of [...readerOperations, ...editorOperations, ...adminOperations]) {
      const answer = await postern.send(name, { nonsense: 1 }, { key });
      assert.equal(answer.status, refusedOperations.some((known) => known === name) ? 403 : 400, name);
    }
  });

test('an expired key gets 401', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  const key = await addKey(postern, 'reader', { expiryDateTime: '2026-05-01T12:00:00Z' });
  assert.equal((await postern.send('share/search', {}, { key })).status, 200);
  now = Date.parse('2026-05-01T12:00:00Z');
  assert.equal((await postern.send('share/search', {}, { key })).status, 401);
});

test('login returns a token that is valid for one hour and has the role of its key', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  const secretkey = await addKey(postern, 'reader');
  const { token, expiryDateTime } = await postern.call('login', { username: 'reader key', secretkey }, { key: null });
  assert.equal(expiryDateTime, '2026-05-01T01:00:00.000Z');
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 200);
  assert.equal((await postern.send('share/add', newShare(), { key: token })).status, 403);
  now += 3_599_999;
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 200);
  now += 1;
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 401);
});

test('a token expires no later than its key', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  const secretkey = await addKey(postern, 'reader', { expiryDateTime: '2026-05-01T00:10:00Z' });
  const { token, expiryDateTime } = await postern.call('login', { username: 'reader key', secretkey }, { key: null });
  assert.equal(expiryDateTime, '2026-05-01T00:10:00.000Z');
  now = Date.parse('2026-05-01T00:10:00Z');
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 401);
});

test('login gives a key at most 300 tokens a minute, and other keys are not affected', async (t) => {
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => Date.parse('2026-05-01T00:00:00Z') } } } });
  const secretkey = await addKey(postern, 'reader');
  const logIn = () => postern.send('login', { username: 'reader key', secretkey }, { key: null });
  for (let count = 0; count < 300; count += 1) assert.equal((await logIn()).status, 200);
  const refusal = await logIn();
  assert.deepEqual([refusal.status, refusal.body.code], [503, 'signInBusy']);
  assert.match(refusal.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await postern.send('login', { username: 'environment', secretkey: adminKey }, { key: null })).status, 200);
});

test('a deleted key and its tokens stop working at once', async (t) => {
  const postern = await startPostern(t);
  const { id, key } = await postern.call('apikey/add', { name: 'temp', role: 'reader' });
  const { token } = await postern.call('login', { username: 'temp', secretkey: key }, { key: null });
  await postern.call('apikey/delete', { id });
  assert.equal((await postern.send('share/search', {}, { key })).status, 401);
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 401);
});

test('login answers a wrong name and a wrong key in the same way', async (t) => {
  const postern = await startPostern(t);
  const answers = [
    await postern.send('login', { username: 'nobody', secretkey: adminKey }, { key: null }),
    await postern.send('login', { username: 'environment', secretkey: 'pst_wrong-but-long-enough' }, { key: null }),
  ];
  for (const { status, body } of answers)
    assert.deepEqual([status, body.code, body.detail], [401, answers[0]?.body.code, answers[0]?.body.detail]);
});

test('login refuses unknown and missing fields, and names them', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('login', {}, { key: null })), ['secretkey', 'username']);
  assert.deepEqual(
    fieldErrorsOf(await postern.send('login', { username: 'environment', secretkey: adminKey, remember: true }, { key: null })),
    ['remember'],
  );
});

test('login refuses an unknown query parameter', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.send('login', { username: 'environment', secretkey: adminKey }, { key: null, query: { remember: 'true' } });
  assert.equal(answer.status, 400);
});

test('requests with wrong keys are rate-limited, but the right key still works', async (t) => {
  const postern = await startPostern(t);
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { status, headers } = await postern.send('share/search', {}, { key: `pst_wrong-key-number-${attempt}` });
    statuses.add(status);
    if (status === 429) assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.deepEqual([...statuses], [401, 429]);
  assert.equal((await postern.send('share/search')).status, 200);
});

test('createdOwner and updatedOwner name the key that made the change', async (t) => {
  const postern = await startPostern(t);
  const key = await addKey(postern, 'editor');
  const { id } = await postern.call('share/add', newShare());
  await postern.call('share/update', await postern.call('share/get', { id }), { key });
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.createdOwner, share.updatedOwner], ['environment', 'editor key']);
});

test('two keys cannot have the same name, but the name of a deleted key can be used again', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('apikey/add', { name: 'sync', role: 'reader' });
  assert.equal((await postern.send('apikey/add', { name: 'sync', role: 'admin' })).status, 409);
  await postern.call('apikey/delete', { id });
  assert.equal((await postern.send('apikey/add', { name: 'sync', role: 'admin' })).status, 200);
});

test('apikey/search returns name, role, first characters and last use, but never the key', async (t) => {
  const postern = await startPostern(t);
  const { key, id } = await postern.call('apikey/add', { name: 'sync', role: 'reader', expiryDateTime: '2036-01-01T00:00:00Z' });
  await postern.call('share/search', {}, { key });
  const search = () => postern.call('apikey/search', { searchWord: 'SYNC' });
  await until(async () => (await search()).list[0].lastUsedDateTime !== null);
  const answer = await search();
  const [apiKey] = answer.list;
  assert.deepEqual([apiKey.id, apiKey.name, apiKey.role, apiKey.expiryDateTime], [id, 'sync', 'reader', '2036-01-01T00:00:00.000Z']);
  assert.ok(key.startsWith(apiKey.firstCharacters) && apiKey.firstCharacters.startsWith('pst_') && apiKey.firstCharacters.length < 16);
  assert.ok(!JSON.stringify(answer).includes(key));
});

test('the key from the environment cannot be deleted through the API', async (t) => {
  const postern = await startPostern(t);
  const { list } = await postern.call('apikey/search');
  const { id } = list.find(({ name }: { name: string }) => name === 'environment');
  assert.equal((await postern.send('apikey/delete', { id })).status, 409);
  assert.equal((await postern.send('share/search')).status, 200);
});

test('no other key of tenant 1 can have the name of the key from the environment, which each start replaces', async (t) => {
  const postern = await startPostern(t);
  const add = (body: object) => postern.send('apikey/add', { name: 'environment', role: 'reader', ...body });
  const refusal = await add({});
  assert.deepEqual([refusal.status, fieldErrorsOf(refusal)], [400, ['name']]);
  const { id: tid } = await postern.call('tenant/add', { title: 'Two' });
  assert.equal((await add({ tid })).status, 200);
});

test('a token cannot be used to get a new token', async (t) => {
  const postern = await startPostern(t);
  const { token } = await postern.call('login', { username: 'environment', secretkey: adminKey }, { key: null });
  assert.equal((await postern.send('share/search', {}, { key: token })).status, 200);
  assert.equal((await postern.send('login', { username: 'environment', secretkey: token }, { key: null })).status, 401);
});
