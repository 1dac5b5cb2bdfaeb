import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BusyLocations } from '#features/visits/files/busy-locations.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { sweepLocations, tokenLookup } from '#features/visits/files/sweep-locations.ts';
import { endExpiredUploads } from '#features/visits/resumable-uploads/end-expired-uploads.ts';
import { UploadWriters } from '#features/visits/resumable-uploads/upload-writers.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { type CallHook, intercept } from '../parts/intercept.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { recordStatements } from '../parts/statements.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare, hour, settableClock } from '../visit/visiting.ts';
import { sha256, tusClient } from './tus.ts';

test('an upload continues after a restart, and its SHA-256 is that of the entire file', async (t) => {
  const data = await temporaryFolder(t);
  const first = await startPostern(t, { data });
  const { base } = await createShare(first);
  const bytes = randomBytes(2_500_000);
  const before = tusClient(first, base);
  const address = await before.begin('a', bytes.length);
  await before.patch(address, 0, bytes.subarray(0, 1_500_000));
  await first.stop();
  const second = await startPostern(t, { data });
  await sweepLocations(second.ports);
  const after = tusClient(second, base);
  const { pathname } = new URL(address);
  assert.equal(await after.offset(pathname), 1_500_000);
  const { status, headers } = await after.patch(pathname, 1_500_000, bytes.subarray(1_500_000));
  assert.equal(status, 204);
  assert.equal(headers['repr-digest'], `sha-256=:${sha256(bytes)}:`);
  assert.deepEqual(await readFile(join(second.files, 'a')), bytes);
});

test('a part of an upload whose staging file was deleted is refused, because the upload is unknown', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  for (const name of await readdir(join(postern.files, '.postern'))) await rm(join(postern.files, '.postern', name));
  assert.equal((await tus.patch(address, 3, 'def')).json.code, 'uploadUnknown');
});

test('an upload can continue after its location was an empty or a different folder for some time', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  const away = `${postern.files}-away`;
  await rename(postern.files, away);
  await mkdir(postern.files);
  assert.equal((await tus.patch(address, 3, 'def')).json.code, 'storageAway');
  await mkdir(join(postern.files, '.postern'));
  assert.equal((await tus.patch(address, 3, 'def')).json.code, 'uploadUnknown');
  await rm(postern.files, { recursive: true });
  await rename(away, postern.files);
  assert.equal((await tus.patch(address, 3, 'def')).status, 204);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abcdef');
});

test('the sweep keeps an unfinished upload; an expired one is deleted with its row', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 6);
  await tus.patch(address, 0, 'abc');
  await sweepLocations(postern.ports);
  assert.equal((await readdir(join(postern.files, '.postern'))).length, 1);
  clock.advance(26 * hour);
  await endExpiredUploads(postern.ports, new UploadWriters(() => 0));
  assert.deepEqual(await readdir(join(postern.files, '.postern')), []);
  assert.deepEqual(await postern.ports.store.read.selectFrom('resumable_upload').selectAll().execute(), []);
});

/** Adds `count` copies of the row of the only resumable upload. The copies have no staging files. */
async function copyUpload({ ports: { store } }: TestPostern, count: number): Promise<void> {
  const row = await store.read.selectFrom('resumable_upload').selectAll().executeTakeFirstOrThrow();
  for (let start = 0; start < count; start += 500)
    await store.write(
      (tx) =>
        tx
          .insertInto('resumable_upload')
          .values(Array.from({ length: Math.min(500, count - start) }, (_, index) => ({ ...row, ...copyKeys(start + index) })))
          .execute(),
      'job',
    );
}
const copyKeys = (number: number) => ({ id: `id-${number}`, token: `token-${number}` });

test('all expired uploads of a location are deleted in one run, even if there are more than a thousand', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  if (postern.ports.store.isShared) return t.skip('a thousand transactions take a minute on PostgreSQL');
  const { base } = await createShare(postern);
  await tusClient(postern, base).begin('a', 6);
  await copyUpload(postern, 1100);
  clock.advance(26 * hour);
  await endExpiredUploads(postern.ports, new UploadWriters(() => 0));
  const remaining = postern.ports.store.read.selectFrom('resumable_upload').select('id').limit(1);
  await until(async () => (await remaining.executeTakeFirst()) === undefined); // the run may continue in the background
});

test('a link with 20,000 expired uploads that are not deleted yet accepts a new upload only after one of them is deleted', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  await tus.begin('a', 6);
  await copyUpload(postern, 19_999);
  clock.advance(hour);
  assert.equal((await tus.announce('b', 6)).json.code, 'uploadsBusy');
  await postern.ports.store.write((tx) => tx.deleteFrom('resumable_upload').where('id', '=', 'id-0').execute(), 'job');
  await tus.begin('b', 6);
});

test('an expired upload is not deleted while it is in use', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  const address = await tusClient(postern, base).begin('a', 6);
  clock.advance(26 * hour);
  const writers = new UploadWriters(() => 0);
  const id = address.slice(address.lastIndexOf('/') + 1);
  await writers.runWithoutParts(id, () => endExpiredUploads(postern.ports, writers));
  assert.equal((await readdir(join(postern.files, '.postern'))).length, 1);
  await endExpiredUploads(postern.ports, writers);
  assert.deepEqual(await readdir(join(postern.files, '.postern')), []);
});

test('a location that does not respond does not delay the deletion of expired uploads at other locations', async (t) => {
  const clock = settableClock();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const before: CallHook = (method) => {
    if (method !== 'storage.clearEvidence') return;
    calls += 1;
    return calls === 1 ? gate.promise : undefined;
  };
  const postern = await startWithStorages(t, before, { replacements: { ports: { clock } } });
  const folder = join(postern.files, 'second');
  await mkdir(folder);
  await postern.call('location/add', { name: 'second', kind: 'local', configuration: JSON.stringify({ folder }) });
  for (const location of ['local', 'second']) {
    const { base } = await createShare(postern, { location });
    for (const name of ['a', 'b']) await tusClient(postern, base).begin(name, 6);
  }
  clock.advance(26 * hour);
  const ending = endExpiredUploads(postern.ports, new UploadWriters(() => 0));
  const remaining = () => postern.ports.store.read.selectFrom('resumable_upload').select('location_id').execute();
  await until(async () => (await remaining()).length === 2);
  assert.equal(new Set((await remaining()).map(({ location_id }) => location_id)).size, 1);
  gate.resolve();
  await ending;
  assert.deepEqual(await remaining(), []);
});

test('at a location that does not respond, at most one sweep and one deletion of expired uploads run at a time', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  for (const name of ['a', 'b']) await tusClient(postern, base).begin(name, 6);
  clock.advance(26 * hour);
  const gate = Promise.withResolvers<void>();
  const calls: string[] = [];
  const hang: CallHook = (method) => {
    if (!method.startsWith('storage.')) return undefined;
    calls.push(method);
    return gate.promise;
  };
  const ports = { ...postern.ports, storages: intercept(postern.ports.storages, 'storages', hang) };
  const endUploads = (p: typeof ports, busy: BusyLocations) => endExpiredUploads(p, new UploadWriters(() => 0), busy);
  const firstRuns: Promise<unknown>[] = [];
  for (const run of [sweepLocations, endUploads]) {
    const busyLocations = new BusyLocations();
    firstRuns.push(run(ports, busyLocations));
    await until(() => calls.length === firstRuns.length);
    await run(ports, busyLocations);
  }
  assert.deepEqual(calls, ['storage.sweep', 'storage.clearEvidence']);
  gate.resolve();
  await Promise.all(firstRuns);
});

test('the sweep finds the unfinished uploads among thousands of other names', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  for (const name of ['a', 'b']) await tus.begin(name, 6);
  const { read } = postern.ports.store;
  const tokens = (await read.selectFrom('resumable_upload').select('token').execute()).map(({ token }) => token);
  const names = [...Array.from({ length: 2500 }, (_, number) => `other-${number}`), '', '\u0000', '\ud800', ...tokens];
  assert.deepEqual([...(await tokenLookup(read)(names))].sort(), tokens.sort());
});

test('recovery, the sweep and the deletion of expired uploads read the configuration of one location at a time', async (t) => {
  const statements = recordStatements(t);
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  await recoverInterruptedChanges(postern.ports, new Set());
  await sweepLocations(postern.ports);
  await endExpiredUploads(postern.ports, new UploadWriters(() => 0));
  const ofMany = /^select (\* from "location"$|.*"configuration".* from "unsettled"|distinct "location"\.\*)/;
  assert.deepEqual(
    [...statements].filter((statement) => ofMany.test(statement)),
    [],
  );
});

test('an upload whose file is in place but whose outcome was not recorded is complete after recovery', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 3);
  const { store } = postern.ports;
  const { write } = store;
  const isInPlace = () => existsSync(join(postern.files, 'a'));
  const failingWrite: typeof write = (change, ...rest) =>
    isInPlace() ? Promise.reject(new StoreUnavailable('the database is unavailable')) : write(change, ...rest);
  const writeMock = t.mock.method(store, 'write', failingWrite);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 503);
  writeMock.mock.restore();
  assert.equal((await tus.patch(address, 2, 'c')).status, 423);
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal((await tus.send('HEAD', address)).status, 410);
  const { list: entries } = await postern.call('audit/search', { action: 'upload' });
  assert.deepEqual([entries.length, entries[0].outcome], [1, 'done']);
  assert.deepEqual(await readdir(join(postern.files, '.postern')), []);
});

test('an upload whose file could not be put in place continues after recovery', async (t) => {
  const placing = { fails: true };
  const postern = await startWithStorages(t, (method) => {
    if (method === 'upload.place' && placing.fails) throw new StorageUnavailable('the disk does not respond');
  });
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 3);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 503);
  placing.fails = false;
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal(await tus.offset(address), 2);
  assert.equal((await tus.patch(address, 2, 'c')).status, 204);
  assert.equal(await readFile(join(postern.files, 'a'), 'utf8'), 'abc');
});

test('if the process that receives a part is killed, the upload can continue, even if it uses most of a quota', async (t) => {
  const postern = await startPostern(t);
  const mebibyte = 1 << 20;
  const { base } = await createShare(postern, { maxBytes: 20 * mebibyte });
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 18 * mebibyte);
  await tus.patch(address, 0, Buffer.alloc(mebibyte));
  const { store } = postern.ports;
  await store.write((tx) => tx.updateTable('resumable_upload').set({ holder: 'killed' }).execute(), 'job');
  assert.equal((await tus.patch(address, mebibyte, Buffer.alloc(mebibyte))).status, 204);
});

test('the bytes that a killed process had claimed for an upload are free again after recovery', async (t) => {
  const postern = await startPostern(t);
  const mebibyte = 1 << 20;
  const { base } = await createShare(postern, { maxBytes: 20 * mebibyte });
  await tusClient(postern, base).begin('a', 18 * mebibyte);
  const { store } = postern.ports;
  await store.write((tx) => tx.updateTable('resumable_upload').set({ holder: 'killed' }).execute(), 'job');
  const upload = (name: string) => postern.visit(`${base}/file/${name}`, { method: 'PUT', body: Buffer.alloc(10 * mebibyte) });
  assert.equal((await upload('b')).status, 507);
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal((await upload('b')).status, 201);
});
