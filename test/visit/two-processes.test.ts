import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { removeEndedProcesses } from '#features/processes/running-processes.ts';
import { releaseForgottenNames } from '#features/visits/files/held-names.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { type Store, StoreUnavailable } from '#ports/store.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { startPostern, type TestPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

// Two processes can share a database only with PostgreSQL.
const options = { skip: process.env['POSTERN_TEST_POSTGRES'] === undefined };

/** Ends the connections that hold advisory locks in the database of a store, or wait for them. @returns their number */
async function endLocks({ read }: Store): Promise<number> {
  const { rows } = await sql`
    SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS holder`.execute(read);
  return rows.length;
}

test(
  'of two replacements of one version at two processes, one is refused, even if the first process loses its locks',
  options,
  async (t) => {
    const gate = Promise.withResolvers<void>();
    const placing = { one: 0, other: 0 };
    const one = await startWithStorages(t, (method) => {
      if (method !== 'upload.place') return undefined;
      placing.one += 1;
      return placing.one === 2 ? gate.promise : undefined;
    });
    const other = await startWithStorages(
      t,
      (method) => {
        if (method === 'upload.place') placing.other += 1;
        return undefined;
      },
      { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } },
    );
    const { base } = await createShare(one);
    // Not `visit`: it sends to the public address, which is that of the first process.
    const sendTo = (postern: typeof one, method: string, body = '', headers = {}) =>
      sendPath(postern, `${base}/file/a.txt`, { method, body, headers });
    await sendTo(one, 'PUT', 'original');
    const { etag = '' } = (await sendTo(one, 'HEAD')).headers;
    const replaceAt = (postern: typeof one, body: string) => sendTo(postern, 'PUT', body, { 'if-match': etag });

    const first = replaceAt(one, 'from the first process');
    await until(async () => placing.one === 2);
    assert.equal(await endLocks(one.ports.store), 1);
    const writes = t.mock.method(other.ports.store, 'write');
    const second = replaceAt(other, 'from the second process');
    await until(async () => placing.other > 0 || writes.mock.callCount() > 4);
    assert.equal(placing.other, 0);
    gate.resolve();
    assert.deepEqual([(await first).status, (await second).status], [201, 412]);
    assert.equal((await sendTo(other, 'GET')).text, 'from the first process');
  },
);

test('a suspended process that counts as ended does not replace a file after it continues', options, async (t) => {
  const gate = Promise.withResolvers<void>();
  let placing = 0;
  const one = await startWithStorages(t, (method) => {
    if (method !== 'upload.place') return undefined;
    placing += 1;
    return placing === 2 ? gate.promise : undefined;
  });
  const other = await startPostern(t, { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } });
  const { base } = await createShare(one);
  const sendToOne = (method: string, body = '', headers = {}) => sendPath(one, `${base}/file/a.txt`, { method, body, headers });
  await sendToOne('PUT', 'original');
  const { etag = '' } = (await sendToOne('HEAD')).headers;
  const replacing = sendToOne('PUT', 'late', { 'if-match': etag });
  await until(async () => placing === 2);

  const { store } = other.ports;
  await store.write((tx) => tx.updateTable('process').set({ seen_at: 0 }).where('name', '=', one.ports.process).execute(), 'job');
  await removeEndedProcesses(other.ports);
  assert.deepEqual(await store.read.selectFrom('held_name').selectAll().execute(), []);
  gate.resolve();
  assert.equal((await replacing).status, 503);
  assert.equal((await sendToOne('GET')).text, 'original');
  await recoverInterruptedChanges(other.ports, new Set());
  assert.equal((await sendToOne('GET')).text, 'original');
});

test(
  'a name that a process holds for a failed change is released, even if the process does not know that it holds the name',
  options,
  async (t) => {
    const one = await startPostern(t);
    const other = await startPostern(t, { data: one.data, environment: { POSTERN_PUBLIC_URL: one.publicUrl } });
    const { base } = await createShare(one);
    const heldNames = () => one.ports.store.read.selectFrom('held_name').select('holder').execute();
    const { write } = one.ports.store;
    const losingWrite: typeof write = async (...parameters) => {
      const result = await write(...parameters);
      if ((await heldNames()).length > 0) throw new StoreUnavailable('the response of the database was lost');
      return result;
    };
    const writeMock = t.mock.method(one.ports.store, 'write', losingWrite);
    const createAt = (postern: TestPostern) => sendPath(postern, `${base}/folder/new`, { method: 'POST' });
    assert.equal((await createAt(one)).status, 503);
    writeMock.mock.restore();
    assert.equal((await heldNames()).length, 1);
    await releaseForgottenNames(one.ports, new Set());
    assert.equal((await createAt(other)).status, 201);
  },
);
