import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '#adapters/os/system.ts';
import { noProcess } from '#features/processes/running-processes.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { sha256, tusClient } from './tus.ts';

// Two processes can share a database only with PostgreSQL.
const options = { skip: process.env['POSTERN_TEST_POSTGRES'] === undefined };

test('an upload can continue at another process, and only one process at a time receives a part', options, async (t) => {
  const one = await startPostern(t);
  const other = await startPostern(t, { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } });
  const { base } = await createShare(one);
  const [atOne, atOther] = [tusClient(one, base), tusClient(other, base)];
  const address = await atOne.begin('a', 6);
  await atOne.patch(address, 0, 'abc');
  const last = await atOther.patch(address, 3, 'def');
  assert.deepEqual([last.status, last.headers['repr-digest']], [204, `sha-256=:${sha256('abcdef')}:`]);

  const large = await atOne.begin('b', 5_000_000);
  const close = atOne.sendBeginning(large, 0, randomBytes(2_000_000), 5_000_000);
  const holders = () => one.ports.store.read.selectFrom('resumable_upload').select('holder').where('holder', 'is not', null).execute();
  await until(async () => (await holders()).length === 1);
  assert.equal((await atOther.patch(large, 0, 'x')).status, 423);
  assert.equal((await atOther.send('DELETE', large)).status, 423);
  close();
  await until(async () => (await holders()).length === 0);
  assert.equal((await atOther.send('DELETE', large)).status, 204);
  assert.equal((await atOne.send('HEAD', large)).status, 404);
});

test(
  'a process that was suspended in the middle of a part writes nothing into the file that another process has completed',
  options,
  async (t) => {
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const one = await startPostern(t, { replacements: { ports: { clock } } });
    const other = await startPostern(t, { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } });
    const { base } = await createShare(one);
    const [atOne, atOther] = [tusClient(one, base), tusClient(other, base)];
    const [ownBytes, lateBytes] = [Buffer.alloc(3 << 20, 'o'), Buffer.alloc(3 << 20, 'l')];
    const address = await atOne.begin('a', ownBytes.length);
    const { send, ended } = atOne.beginPart(address, 0, ownBytes.length);
    send(lateBytes.subarray(0, 1 << 20));
    const { store } = one.ports;
    const holders = () => store.read.selectFrom('resumable_upload').select('holder').where('holder', 'is not', null).execute();
    await until(async () => (await holders()).length === 1);

    await store.write((tx) => tx.updateTable('resumable_upload').set({ holder: noProcess }).execute(), 'job'); // as if `one` had ended
    assert.equal((await atOther.patch(address, 0, ownBytes)).status, 204);
    now += 60_000;
    send(lateBytes.subarray(1 << 20));
    await ended;
    assert.ok((await readFile(join(one.files, 'a'))).equals(ownBytes));
  },
);

test('if the database fails at the end of a part, another process can continue the upload soon', options, async (t) => {
  const one = await startPostern(t);
  const other = await startPostern(t, { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } });
  const { base } = await createShare(one);
  const [atOne, atOther] = [tusClient(one, base), tusClient(other, base)];
  const address = await atOne.begin('a', 6);
  const isClaimed = async () =>
    (await other.ports.store.read.selectFrom('resumable_upload').select('holder').where('holder', 'is not', null).execute()).length > 0;
  const { write } = one.ports.store;
  const failingWrite: typeof write = async (...parameters) => {
    if (await isClaimed()) throw new StoreUnavailable('the database is unavailable');
    return write(...parameters);
  };
  const writeMock = t.mock.method(one.ports.store, 'write', failingWrite);
  assert.equal((await atOne.patch(address, 0, 'abc')).status, 503);
  assert.equal((await atOther.patch(address, 0, 'abc')).status, 423);
  writeMock.mock.restore();
  await until(async () => !(await isClaimed()));
  assert.equal((await atOther.patch(address, 0, 'abcdef')).status, 204);
});
