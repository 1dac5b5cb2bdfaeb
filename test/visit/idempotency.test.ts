import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { findStoredResponse, storeResponse } from '#features/idempotency/stored-responses.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { requestUnrecordedChange } from '../parts/unrecorded-change.ts';
import { createUsersProfile, signIn, startPostern } from '../start.ts';
import { basicAuthorization, changeShare, createShare, hour, jsonPostRequest, settableClock } from './visiting.ts';

const keyHeader = { 'idempotency-key': 'once' };

test('a change that is sent twice with one idempotency key is made once and gets the same response twice', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const [path, init, status] of [
    ['/folder/new', { method: 'POST' }, 201],
    ['/rename', jsonPostRequest({ path: 'new', name: 'newer' }), 200],
    ['/file/newer', { method: 'DELETE' }, 204],
  ] as const) {
    const requestInit = {
      ...init,
      headers: { ...('headers' in init ? (init.headers as Record<string, string>) : {}), 'idempotency-key': path },
    };
    const first = await postern.visit(base + path, requestInit);
    const repetition = await postern.visit(base + path, requestInit);
    assert.equal(first.status, status, path);
    assert.equal(repetition.status, status, path);
    assert.deepEqual(repetition.body, first.body);
    assert.equal(first.headers.get('idempotency-replayed'), null);
    assert.equal(repetition.headers.get('idempotency-replayed'), 'true');
  }
});

test('a request with an idempotency key that was used for another request gets 409', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await postern.visit(`${base}/folder/a`, { method: 'POST', headers: keyHeader });
  const other = await postern.visit(`${base}/folder/b`, { method: 'POST', headers: keyHeader });
  assert.equal(other.status, 409);
  assert.equal(other.body.code, 'idempotencyReused');
});

test('a refusal is not stored, so that a retry can use the same idempotency key', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const request = () => postern.visit(`${base}/folder/parent/a`, { method: 'POST', headers: keyHeader });
  assert.equal((await request()).status, 404);
  await mkdir(join(postern.files, 'parent'));
  assert.equal((await request()).status, 201);
});

test('an idempotency key is valid for one day and has at most 255 characters', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  const request = (name: string) => postern.visit(`${base}/folder/a`, { method: 'POST', headers: { 'idempotency-key': name } });
  assert.equal((await request('x'.repeat(256))).status, 400);
  assert.equal((await request('x'.repeat(255))).status, 201);
  clock.advance(24 * hour - 1);
  assert.equal((await request('x'.repeat(255))).status, 201);
  clock.advance(1);
  assert.equal((await request('x'.repeat(255))).status, 409, 'the request runs again, and the folder exists');
});

test('the idempotency key of a running change does not expire, even if the clock is set ahead', async (t) => {
  const clock = settableClock();
  const { ports } = await startPostern(t, { replacements: { ports: { clock } } });
  const request = { tid: 1, caller: 'visitor', key: 'k', fingerprint: 'f' };
  const { vault } = ports;
  await ports.store.write(
    (tx) => storeResponse(tx, request, { status: 201, body: '' }, { vault, now: clock.now(), pendingAuditId: 1 }),
    'job',
  );
  clock.advance(48 * hour);
  await deleteExpiredRows(ports);
  await assert.rejects(
    findStoredResponse(ports.store.read, request, vault, clock.now()),
    (cause: unknown) => cause instanceof Refusal && cause.messageName === 'idempotencyRunning',
  );
});

test('a repeated request gets 404 after its share was stopped', async (t) => {
  const postern = await startPostern(t);
  const { id, base } = await createShare(postern);
  const request = () => postern.visit(`${base}/folder/a`, { method: 'POST', headers: keyHeader });
  assert.equal((await request()).status, 201);
  await changeShare(postern, id, { active: false });
  assert.equal((await request()).status, 404);
});

test('a repeated request is refused after its permission was removed', async (t) => {
  const postern = await startPostern(t);
  const { id, base } = await createShare(postern);
  const request = () => postern.visit(`${base}/folder/a`, { method: 'POST', headers: keyHeader });
  assert.equal((await request()).status, 201);
  await changeShare(postern, id, { canCreateFolder: false });
  assert.equal((await request()).status, 403);
});

test('a stored response is not sent to a request with a wrong password', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const request = (password: string) =>
    postern.visit(`${base}/folder/a`, { method: 'POST', headers: { ...keyHeader, authorization: basicAuthorization('ann', password) } });
  assert.equal((await request('correct horse battery')).status, 201);
  assert.equal((await request('wrong')).status, 401);
});

test('a repeated request is refused after its session has ended', async (t) => {
  const postern = await startPostern(t);
  const { id, users } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const cookie = await signIn(postern, base, 'ann');
  const request = () => postern.visit(`${base}/folder/a`, { method: 'POST', headers: { ...keyHeader, cookie } });
  assert.equal((await request()).status, 201);
  await postern.call('accessuser/update', { id: users['ann'], authId: id, active: false });
  assert.equal((await request()).status, 401);
});

test('if the outcome of a change could not be recorded, a repeated request gets the response of the change after recovery', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const request = () => postern.visit(`${base}/folder/a`, { method: 'POST', headers: keyHeader });
  await requestUnrecordedChange(t, postern, request, true);
  assert.equal((await request()).body.code, 'idempotencyRunning');
  await recoverInterruptedChanges(postern.ports, new Set());
  const repetition = await request();
  assert.deepEqual([repetition.status, repetition.body], [201, { name: 'a' }]);
  assert.equal(repetition.headers.get('idempotency-replayed'), 'true');
});

test('a change that was interrupted before it took place can be retried with the same idempotency key', async (t) => {
  let isUnavailable = true;
  const postern = await startWithStorages(t, (method) => {
    if (isUnavailable && method === 'storage.createFolder') throw new StorageUnavailable('the disk is unavailable');
  });
  const { base } = await createShare(postern);
  const request = () => postern.visit(`${base}/folder/a`, { method: 'POST', headers: keyHeader });
  assert.equal((await request()).status, 503);
  isUnavailable = false;
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal((await request()).status, 201);
});
