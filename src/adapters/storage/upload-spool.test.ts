import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ItemNotFound, StorageFull } from '#ports/storage.ts';
import { PartSpace } from './part-space.ts';
import { UploadSpool } from './upload-spool.ts';

async function newSpool(t: TestContext, maxBytes: number, clock = { now: Date.now() }) {
  const data = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(data, { recursive: true }));
  const folder = join(data, 'uploads');
  const space = new PartSpace({ folder: data, minFreeSpace: 0 });
  return { folder, spool: new UploadSpool({ folder, maxBytes, space, now: () => clock.now }) };
}

test('a file that is opened again has the bytes up to the offset, and new bytes follow them', async (t) => {
  const { spool } = await newSpool(t, 100);
  const first = await spool.open(1, 'a', 0, 6);
  await first.append(Buffer.from('abcX'));
  await first.sync();
  await first.close();
  const second = await spool.open(1, 'a', 3, 6);
  await second.append(Buffer.from('def'));
  assert.equal(Buffer.concat(await Array.fromAsync(second.body().pieces)).toString(), 'abcdef');
  await second.close();
});

test('the limits of the spool count the announced bytes, and one tenant can have half of them', async (t) => {
  const { spool, folder } = await newSpool(t, 100);
  const open = async (tid: number, token: string, size: number) => (await spool.open(tid, token, 0, size)).close();
  await open(1, 'a', 50);
  await assert.rejects(open(1, 'b', 1), StorageFull);
  await open(2, 'a', 30);
  await open(11, 'a', 20);
  await assert.rejects(open(3, 'a', 1), StorageFull);
  await spool.delete(1, 'a');
  await open(3, 'a', 1);
  assert.deepEqual((await readdir(folder)).sort(), ['11-a', '2-a', '3-a']);
});

test('of many simultaneous uploads, the spool accepts as many as it has space for', async (t) => {
  const { spool } = await newSpool(t, 100);
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => spool.open(1, `${index}`, 0, 10)));
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(opened.length, 5);
  for (const file of opened) await file.close();
});

test('the sweep deletes the files of uploads that are not pending', async (t) => {
  const { spool, folder } = await newSpool(t, 100);
  await spool.sweep(async () => []); // there is no folder yet
  for (const token of ['pending', 'complete-1']) await (await spool.open(1, token, 0, 5)).close();
  await spool.sweep(async () => ['pending']);
  assert.deepEqual(await readdir(folder), ['1-pending']);
});

test('an upload whose file is gone cannot continue', async (t) => {
  const { spool } = await newSpool(t, 100);
  await assert.rejects(spool.open(1, 'a', 3, 6), ItemNotFound);
});

test('a file that no upload can need any more is deleted when space is needed', async (t) => {
  const clock = { now: Date.now() };
  const { spool, folder } = await newSpool(t, 100, clock);
  await (await spool.open(1, 'old', 0, 50)).close();
  clock.now += 9 * 24 * 3_600_000;
  await (await spool.open(1, 'new', 0, 50)).close();
  assert.deepEqual(await readdir(folder), ['1-new']);
});
