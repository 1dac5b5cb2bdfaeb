import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare, startPostern } from '../start.ts';
import { addKey } from './keys.ts';

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

test('a repeated request with the same Idempotency-Key gets the stored response and is executed once', async (t) => {
  const postern = await startPostern(t);
  const first = await postern.send('share/add', newShare(), withKey('one'));
  const again = await postern.send('share/add', newShare(), withKey('one'));
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal((await postern.call('share/search')).totalCount, 1);
});

test('a different body, query or operation with the same Idempotency-Key gets 409', async (t) => {
  const postern = await startPostern(t);
  await postern.call('accessuser/add', { username: 'ann', active: true }, withKey('one'));
  assert.equal((await postern.send('accessuser/add', { username: 'bob', active: true }, withKey('one'))).status, 409);
  assert.equal((await postern.send('loginprofile/add', { title: 'x' }, withKey('one'))).status, 409);
  assert.equal(
    (await postern.send('accessuser/add', { username: 'ann', active: true }, { ...withKey('one'), query: { dryRun: 'true' } })).status,
    409,
  );
  assert.equal((await postern.call('accessuser/search')).totalCount, 1);
});

test('of concurrent duplicate requests, only one is executed, and the others get 200 or 409', async (t) => {
  const postern = await startPostern(t);
  const answers = await Promise.all([1, 2, 3, 4].map(() => postern.send('share/add', newShare(), withKey('one'))));
  assert.ok(answers.some(({ status }) => status === 200));
  for (const { status } of answers) assert.ok([200, 409].includes(status));
  assert.equal((await postern.call('share/search')).totalCount, 1);
});

test('a request with an Idempotency-Key that another caller has used is executed', async (t) => {
  const postern = await startPostern(t);
  const editor = await addKey(postern, 'editor');
  await postern.call('share/add', newShare(), withKey('one'));
  const other = await postern.send('share/add', newShare(), { ...withKey('one'), key: editor });
  assert.equal(other.headers.get('idempotency-replayed'), null);
  assert.equal((await postern.call('share/search')).totalCount, 2);
});

test('a refusal is not stored: the corrected request may use the same Idempotency-Key', async (t) => {
  const postern = await startPostern(t);
  assert.equal((await postern.send('share/add', newShare({ location: 'nowhere' }), withKey('one'))).status, 400);
  assert.equal((await postern.send('share/add', newShare(), withKey('one'))).status, 200);
});

test('the response to a dry run is not stored', async (t) => {
  const postern = await startPostern(t);
  await postern.call('share/add', newShare(), { ...withKey('one'), query: { dryRun: 'true' } });
  const answer = await postern.send('share/add', newShare(), withKey('one'));
  assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [200, null]);
});

test('the response for an Idempotency-Key is stored for 24 hours', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  await postern.call('share/add', newShare(), withKey('one'));
  now += 86_399_999;
  assert.equal((await postern.send('share/add', newShare(), withKey('one'))).headers.get('idempotency-replayed'), 'true');
  now += 1;
  assert.equal((await postern.send('share/add', newShare(), withKey('one'))).headers.get('idempotency-replayed'), null);
  assert.equal((await postern.call('share/search')).totalCount, 2);
});

test('an Idempotency-Key may have at most 255 characters', async (t) => {
  const postern = await startPostern(t);
  assert.equal((await postern.send('loginprofile/add', {}, withKey('x'.repeat(255)))).status, 200);
  assert.equal((await postern.send('loginprofile/add', {}, withKey('x'.repeat(256)))).status, 400);
});

test('get, search and explain ignore an Idempotency-Key', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare(), withKey('one'));
  for (const [name, body] of [
    ['share/get', { id }],
    ['share/search', {}],
    ['share/explain', { id }],
  ] as const) {
    const { status, headers } = await postern.send(name, body, withKey('one'));
    assert.deepEqual([status, headers.get('idempotency-replayed')], [200, null], name);
  }
});

test('a repeated apikey/add with the same Idempotency-Key returns the same key', async (t) => {
  const postern = await startPostern(t);
  const body = { name: 'sync', role: 'reader' };
  const { key } = await postern.call('apikey/add', body, withKey('one'));
  assert.equal((await postern.call('apikey/add', body, withKey('one'))).key, key);
});

test('a stored response is replayed after a restart', async (t) => {
  const first = await startPostern(t);
  const { id } = await first.call('share/add', newShare(), withKey('one'));
  const folder = first.data;
  await first.stop();
  const second = await startPostern(t, { data: folder });
  const again = await second.send('share/add', newShare(), withKey('one'));
  assert.deepEqual([again.body.id, again.headers.get('idempotency-replayed')], [id, 'true']);
});

test('a repeated delete with the same Idempotency-Key gets the stored response', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  await postern.call('share/delete', { id }, withKey('one'));
  const again = await postern.send('share/delete', { id }, withKey('one'));
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, 'true']);
});
