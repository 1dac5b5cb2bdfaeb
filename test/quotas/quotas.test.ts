import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { countDueFolders } from '#features/quotas/count-due-folders.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { holdUpload } from '../parts/held-upload.ts';
import type { CallHook } from '../parts/intercept.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { tusClient } from '../resumable-uploads/tus.ts';
import type { TestPostern } from '../start.ts';
import { changeShare, createShare, noPermissions, sendPath } from '../visit/visiting.ts';

const put = (postern: TestPostern, base: string, name: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  sendPath(postern, `${base}/file/${name}`, { method: 'PUT', body, headers });
const count = (postern: TestPostern) => countDueFolders(postern.ports, AbortSignal.timeout(60_000));
const quotaOf = async (postern: TestPostern, base: string) => (await postern.visit(`${base}/visit`)).body.share.quota;

/** Starts a Postern with a folder that holds a file of 10 bytes, and a share of the folder. */
async function startWithFolder(t: TestContext, share: object, before: CallHook = () => {}) {
  const postern = await startWithStorages(t, before);
  await mkdir(join(postern.files, 'in'));
  await writeFile(join(postern.files, 'in', 'first.txt'), '0123456789');
  const { id, base } = await createShare(postern, { path: '/in', ...share });
  await count(postern);
  return { postern, id, base };
}
const visibleFiles = async (postern: TestPostern) => (await readdir(join(postern.files, 'in'))).sort();

test('an upload that would exceed the byte quota of a share gets 507, and nothing of it is kept', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 25 });
  const answer = await put(postern, base, 'large.txt', 'x'.repeat(16));
  assert.deepEqual([answer.status, answer.json.code], [507, 'quotaExceeded']);
  assert.match(answer.json.detail, /25 bytes, of which 15 are free/);
  assert.equal((await put(postern, base, 'fits.txt', 'x'.repeat(15))).status, 201);
  assert.equal((await put(postern, base, 'empty.txt', '')).status, 201);
  assert.equal((await put(postern, base, 'one.txt', 'x')).status, 507);
  assert.deepEqual(await visibleFiles(postern), ['empty.txt', 'first.txt', 'fits.txt']);
});

test('an upload that would exceed the file quota of a share gets 507', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxFiles: 2 });
  assert.equal((await put(postern, base, 'second.txt', 'x')).status, 201);
  const answer = await put(postern, base, 'third.txt', 'x');
  assert.deepEqual([answer.status, answer.json.code], [507, 'quotaExceeded']);
  assert.equal((await postern.visit(`${base}/folder/sub`, { method: 'POST' })).status, 201);
  assert.deepEqual(await visibleFiles(postern), ['first.txt', 'second.txt', 'sub']);
});

test('an upload of unknown length that exceeds the quota gets 507, and nothing of it is kept', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 1_000_010 });
  const send = (name: string, size: number) =>
    fetch(`${postern.publicUrl}${base}/file/${name}`, {
      method: 'PUT',
      body: new Blob([new Uint8Array(size)]).stream(),
      duplex: 'half',
    } as RequestInit);
  assert.equal((await send('fits.bin', 400_000)).status, 201);
  assert.equal((await send('large.bin', 600_001)).status, 507);
  assert.deepEqual(await visibleFiles(postern), ['first.txt', 'fits.bin']);
  assert.equal((await send('exact.bin', 600_000)).status, 201);
});

test('running uploads count toward the quota: two that do not fit together are not both accepted', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 30 });
  const upload = await holdUpload(postern, `${base}/file/slow.txt`, 15);
  const answer = await put(postern, base, 'other.txt', 'x'.repeat(6));
  assert.deepEqual([answer.status, answer.json.code], [507, 'quotaExceeded']);
  assert.equal((await upload.finish()).status, 201);
  assert.equal((await put(postern, base, 'other.txt', 'x'.repeat(5))).status, 201);
});

test('a replacement that makes a file smaller frees space only when it is done', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 25 });
  const upload = await holdUpload(postern, `${base}/file/first.txt`, 2, { 'if-match': '*' });
  assert.equal((await put(postern, base, 'other.txt', 'x'.repeat(16))).status, 507);
  assert.equal((await upload.finish()).status, 201);
  assert.equal((await put(postern, base, 'other.txt', 'x'.repeat(16))).status, 201);
});

test('a replacement of unknown length needs space only for the bytes that it adds', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 12 });
  const replace = (size: number) =>
    fetch(`${postern.publicUrl}${base}/file/first.txt`, {
      method: 'PUT',
      headers: { 'if-match': '*' },
      body: new Blob([new Uint8Array(size)]).stream(),
      duplex: 'half',
    } as RequestInit);
  assert.equal((await replace(12)).status, 201);
  assert.equal((await replace(13)).status, 507);
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 12, usedBytes: 12, maxFiles: null, usedFiles: 1 });
});

test('a small upload in parts claims its bytes when it begins, and frees them when it is deleted', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 30 });
  const tus = tusClient(postern, base);
  const refusal = await tus.announce('large.bin', 21);
  assert.deepEqual([refusal.status, refusal.json.code], [507, 'quotaExceeded']);
  const address = await tus.begin('parts.bin', 20);
  assert.equal((await put(postern, base, 'other.txt', 'x')).status, 507);
  assert.equal((await tus.send('DELETE', address)).status, 204);
  const secondAddress = await tus.begin('parts.bin', 20);
  assert.equal((await tus.patch(secondAddress, 0, 'x'.repeat(20))).status, 204);
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 30, usedBytes: 30, maxFiles: null, usedFiles: 2 });
});

test('a large upload in parts claims its bytes only while they arrive, so that nobody uses up the quota with a few bytes', async (t) => {
  const [mebibyte, maxBytes] = [1 << 20, 10 << 20];
  const { postern, base } = await startWithFolder(t, { maxBytes });
  const tus = tusClient(postern, base);
  const address = await tus.begin('parts.bin', 9 * mebibyte);
  assert.equal((await tus.patch(address, 0, 'x')).status, 204);
  assert.equal((await quotaOf(postern, base)).usedBytes, 10 + 1 + mebibyte);
  assert.equal((await put(postern, base, 'other.bin', 'x'.repeat(5 * mebibyte))).status, 201);
  const refusal = await tus.patch(address, 1, 'x');
  assert.deepEqual([refusal.status, refusal.json.code], [507, 'quotaExceeded']);
  assert.equal((await postern.visit(`${base}/file/other.bin`, { method: 'DELETE' })).status, 204);
  assert.equal((await tus.patch(address, 1, Buffer.alloc(9 * mebibyte - 1))).status, 204);
});

test('an upload that claims its bytes while they arrive gets 507 when others have taken the rest of the quota', async (t) => {
  const mebibyte = 1 << 20;
  const { postern, base } = await startWithFolder(t, { maxBytes: 40 * mebibyte });
  const upload = await holdUpload(postern, `${base}/file/slow.bin`, 30 * mebibyte, {}, 1);
  assert.equal((await put(postern, base, 'other.bin', 'x'.repeat(20 * mebibyte))).status, 201);
  assert.equal((await upload.finish()).status, 507);
  assert.deepEqual(await visibleFiles(postern), ['first.txt', 'other.bin']);
});

test('a replaced file counts once, and a deleted file or folder frees its bytes', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 25, maxFiles: 3 });
  const any = { 'if-match': '*' };
  assert.equal((await put(postern, base, 'first.txt', 'x'.repeat(26), any)).status, 507);
  assert.equal((await put(postern, base, 'first.txt', 'x'.repeat(25), any)).status, 201);
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 25, usedBytes: 25, maxFiles: 3, usedFiles: 1 });
  await postern.visit(`${base}/file/first.txt`, { method: 'DELETE' });
  await postern.visit(`${base}/folder/sub`, { method: 'POST' });
  assert.equal((await put(postern, base, 'sub/a.txt', 'x'.repeat(20))).status, 201);
  assert.equal((await put(postern, base, 'b.txt', 'x'.repeat(5))).status, 201);
  await postern.visit(`${base}/file/sub`, { method: 'DELETE' });
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 25, usedBytes: 5, maxFiles: 3, usedFiles: 1 });
});

test('if a file is replaced while its deletion waits, the deletion frees only the bytes of the new file', async (t) => {
  const gate = Promise.withResolvers<void>();
  const isPlacing = Promise.withResolvers<void>();
  const before = (method: string) => {
    if (method !== 'upload.place') return;
    isPlacing.resolve();
    return gate.promise;
  };
  const { postern, base } = await startWithFolder(t, { maxBytes: 25 }, before);
  const replacement = put(postern, base, 'first.txt', 'x', { 'if-match': '*' });
  await isPlacing.promise;
  const deletion = postern.visit(`${base}/file/first.txt`, { method: 'DELETE' });
  const { read } = postern.ports.store;
  const pendingDeletions = read.selectFrom('audit').select('id').where('action', '=', 'delete').where('outcome', '=', 'begun');
  await until(async () => (await pendingDeletions.execute()).length === 1);
  gate.resolve();
  assert.deepEqual([(await replacement).status, (await deletion).status], [201, 204]);
  const statuses = [await put(postern, base, 'a', 'x'.repeat(25)), await put(postern, base, 'b', 'x')].map(({ status }) => status);
  assert.deepEqual(statuses, [201, 507]);
});

test('the quota of a location limits all its shares together, and a refusal reveals nothing about other files', async (t) => {
  const { postern, base } = await startWithFolder(t, {});
  const { list } = await postern.call('location/search');
  const [location] = list;
  await postern.call('location/update', { ...location, maxBytes: location.usedBytes + 10 });
  const other = await createShare(postern, { path: '/' });
  assert.equal((await put(postern, other.base, 'a.txt', 'x'.repeat(8))).status, 201);
  const answer = await put(postern, base, 'b.txt', 'xxx');
  assert.deepEqual([answer.status, answer.json.detail], [507, 'The quota of the location has too little space left.']);
  const { usedBytes, usedFiles } = await postern.call('location/get', { id: location.id });
  assert.deepEqual([usedBytes - location.usedBytes, usedFiles - location.usedFiles], [8, 1]);
  await postern.call('location/update', { id: location.id, maxBytes: null });
  assert.equal((await put(postern, base, 'b.txt', 'xxx')).status, 201);
});

test('changes that Postern did not make are found by the next count', async (t) => {
  const { postern, id, base } = await startWithFolder(t, { maxBytes: 100 });
  await writeFile(join(postern.files, 'in', 'copied.bin'), new Uint8Array(90));
  await rm(join(postern.files, 'in', 'first.txt'));
  await postern.ports.store.write((tx) => tx.updateTable('counted_folder').set({ due_at: 0 }).execute(), 'job');
  await count(postern);
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 100, usedBytes: 90, maxFiles: null, usedFiles: 1 });
  await changeShare(postern, id, { maxBytes: null });
  assert.equal(await quotaOf(postern, base), null);
});

test('only visitors who may upload see the quota', async (t) => {
  const { postern, base } = await startWithFolder(t, { ...noPermissions, canView: true, maxBytes: 100 });
  assert.equal(await quotaOf(postern, base), null);
});

test('the folder of a share is counted only while a share of this folder has a quota', async (t) => {
  const { postern, id } = await startWithFolder(t, { maxFiles: 5 });
  const folders = async () =>
    (await postern.ports.store.read.selectFrom('counted_folder').select('path').orderBy('path').execute()).map(({ path }) => path);
  assert.deepEqual(await folders(), ['/', '/in']);
  await changeShare(postern, id, { maxFiles: null });
  await postern.ports.store.write((tx) => tx.updateTable('counted_folder').set({ due_at: 0 }).execute(), 'job');
  await count(postern);
  assert.deepEqual(await folders(), ['/']);
});

test('of many simultaneous uploads, only as many are accepted as fit', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 110 });
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => (await put(postern, base, `${index}.txt`, 'x'.repeat(10))).status),
  );
  assert.deepEqual(Map.groupBy(statuses, (status) => status).get(201)?.length, 10);
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 110, usedBytes: 110, maxFiles: null, usedFiles: 11 });
});

test('a file whose upload was recovered after a crash is counted', async (t) => {
  const { postern, base } = await startWithFolder(t, { maxBytes: 100 });
  await uploadWithoutRecord(t, postern, `${base}/file/recovered.txt`);
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.deepEqual((await quotaOf(postern, base)).usedFiles, 2);
  await count(postern);
  assert.deepEqual((await quotaOf(postern, base)).usedFiles, 2);
});
