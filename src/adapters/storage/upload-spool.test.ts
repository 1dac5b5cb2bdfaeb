import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ItemNotFound, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { PartSpace } from './part-space.ts';
import { UploadSpool } from './upload-spool.ts';

async function newSpool(t: TestContext, maxBytes: number) {
  const data = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(data, { recursive: true }));
  const folder = join(data, 'uploads');
  const space = new PartSpace({ folder: data, minFreeSpace: 0 });
  let time = 0;
  const create = () => new UploadSpool({ folder, maxBytes, space, monotonic: () => time });
  const passTime = (ms: number) => {
    time += ms;
  };
  return { folder, newSpool: create, spool: create(), passTime };
}

/** Sends some bytes of an upload. */
async function send(spool: UploadSpool, tid: number, token: string, bytes: number, size = bytes): Promise<void> {
  const file = await spool.open(tid, { token, offset: 0, size });
  await file.append(Buffer.alloc(bytes));
  await file.close();
}

test('a file that is opened again has the bytes up to the offset, and new bytes follow them', async (t) => {
  const { spool } = await newSpool(t, 100);
  const first = await spool.open(1, { token: 'a', offset: 0, size: 6 });
  await first.append(Buffer.from('abcX'));
  await first.sync();
  await first.close();
  const second = await spool.open(1, { token: 'a', offset: 3, size: 6 });
  await second.append(Buffer.from('def'));
  assert.equal(Buffer.concat(await Array.fromAsync(second.body().pieces)).toString(), 'abcdef');
  await second.close();
});

test('the spool counts the bytes that have arrived, also after a restart, and one tenant can use half of the space', async (t) => {
  const { spool, newSpool: restart, folder } = await newSpool(t, 100);
  await send(spool, 1, 'a', 50);
  await assert.rejects(send(spool, 1, 'b', 1), StorageFull);
  await send(spool, 2, 'a', 30);
  await send(spool, 11, 'a', 20);
  for (const one of [spool, restart()]) await assert.rejects(send(one, 3, 'a', 1), StorageFull);
  await spool.delete(1, 'a');
  await send(spool, 3, 'a', 1);
  assert.deepEqual((await readdir(folder)).sort(), ['11-a', '11-a@20', '2-a', '2-a@30', '3-a', '3-a@1']);
});

test('an upload that is not sending occupies only the space of the bytes that have arrived', async (t) => {
  const { spool } = await newSpool(t, 100);
  await send(spool, 1, 'a', 1, 50);
  await send(spool, 1, 'b', 49);
  await assert.rejects(spool.open(1, { token: 'a', offset: 1, size: 50 }), StorageFull);
});

test('after at most a second, a process counts the files that another process has stored in the same spool', async (t) => {
  const { spool, newSpool: startProcess, passTime } = await newSpool(t, 100);
  const other = startProcess();
  await send(spool, 1, 'a', 50);
  await assert.rejects(send(other, 1, 'b', 1), StorageFull);
  await send(other, 2, 'a', 50);
  await other.delete(2, 'a');
  await other.delete(1, 'a');
  await send(spool, 2, 'b', 50);
  await send(spool, 1, 'c', 50);
  passTime(1000);
  await assert.rejects(send(other, 3, 'a', 1), StorageFull);
});

test('while much space is free, a process reads the folder only once a second, and can still delete what another one has just stored', async (t) => {
  const { spool, newSpool: startProcess, folder, passTime } = await newSpool(t, 1000);
  const other = startProcess();
  await send(other, 1, 'a', 1);
  await send(spool, 1, 'b', 499);
  await send(other, 1, 'c', 1);
  passTime(1000);
  await assert.rejects(send(other, 1, 'd', 1), StorageFull);
  await send(spool, 2, 'e', 1);
  for (const [tid, token] of [
    [1, 'a'],
    [1, 'b'],
    [1, 'c'],
    [2, 'e'],
  ] as const)
    await other.delete(tid, token);
  assert.deepEqual(await readdir(folder), []);
});

test('space for an accepted upload stays reserved until its request ends, also if other processes receive uploads', async (t) => {
  const { spool, newSpool: startProcess } = await newSpool(t, 100);
  const file = await spool.open(1, { token: 'a', offset: 0, size: 40 });
  const other = startProcess();
  await assert.rejects(send(other, 1, 'b', 11), StorageFull);
  await send(other, 1, 'c', 10);
  await file.append(Buffer.alloc(20));
  await file.close();
  await send(other, 1, 'd', 20);
  await assert.rejects(other.open(1, { token: 'a', offset: 20, size: 40 }), StorageFull);
  await other.delete(1, 'd');
  await (await other.open(1, { token: 'a', offset: 20, size: 40 })).close();
});

test('some minutes after a process was killed, its unfinished upload holds only the space of the bytes that have arrived', async (t) => {
  const { spool, newSpool: restart, folder } = await newSpool(t, 100);
  const file = await spool.open(1, { token: 'a', offset: 0, size: 50 });
  t.after(() => file.close());
  await file.append(Buffer.alloc(10));
  const next = restart();
  await assert.rejects(send(next, 1, 'b', 1), StorageFull);
  const past = new Date(Date.now() - 200_000);
  for (const name of ['1-a', '1-a@50']) await utimes(join(folder, name), past, past);
  await send(restart(), 1, 'b', 40);
  await assert.rejects(next.open(1, { token: 'a', offset: 10, size: 50 }), StorageFull);
});

test('space for all bytes of a large upload is reserved only while the upload is fast enough to end within an hour', async (t) => {
  const MiB = 1 << 20;
  const { spool, passTime } = await newSpool(t, 2000 * MiB);
  const upload = await spool.open(1, { token: 'a', offset: 0, size: 1000 * MiB });
  await send(spool, 1, 'b', 1);
  await spool.delete(1, 'b');
  passTime(10_000);
  await upload.append(Buffer.alloc(4 * MiB));
  await assert.rejects(send(spool, 1, 'c', 1), StorageFull);
  passTime(10_000);
  await upload.append(Buffer.alloc(MiB));
  await send(spool, 1, 'c', 1);
  await upload.append(Buffer.alloc(17 * MiB));
  await upload.close();
});

test('a reservation that was never counted does not let its upload exceed the limit', async (t) => {
  const { spool, folder } = await newSpool(t, 100);
  await send(spool, 1, 'a', 10);
  await writeFile(join(folder, '1-b@45'), ''); // left by a process that was killed before it checked the limits
  await assert.rejects(send(spool, 1, 'b', 45), StorageFull);
});

test('if a process is late to open the file of an upload, the bytes that another process has received stay', async (t) => {
  const { spool, newSpool: startProcess } = await newSpool(t, 100);
  await send(startProcess(), 1, 'a', 6);
  const lateFile = await spool.open(1, { token: 'a', offset: 0, size: 6 });
  await lateFile.close();
  const file = await spool.open(1, { token: 'a', offset: 6, size: 6 });
  assert.equal(file.length, 6);
  await file.close();
});

test('of many simultaneous uploads of one tenant, the spool accepts as many as fit in half of its space', async (t) => {
  const { spool } = await newSpool(t, 100);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => spool.open(1, { token: `${index}`, offset: 0, size: 10 })),
  );
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(files.length, 5);
  for (const file of files) await file.close();
});

test('an upload does not wait for all uploads that another network has begun before', async (t) => {
  const { spool } = await newSpool(t, 1000);
  const endOrder: string[] = [];
  const uploads = [...Array.from({ length: 60 }, () => '192.0.2.1'), '198.51.100.1'].map(async (address, index) => {
    const file = await spool.open(1, { token: `${index}`, offset: 0, size: 1 }, address);
    await file.append(Buffer.from('x'));
    await file.sync();
    endOrder.push(address);
    await file.close();
  });
  await Promise.all(uploads);
  const before = endOrder.indexOf('198.51.100.1');
  assert.ok(before < 15, `${before} uploads of the other network ended before`);
});

test('the sweep deletes the files of uploads that are not pending', async (t) => {
  const { spool, folder } = await newSpool(t, 100);
  await spool.sweep(async () => []); // there is no folder yet
  for (const token of ['pending', 'complete-1']) await send(spool, 1, token, 5);
  await spool.sweep(async () => ['pending']);
  assert.deepEqual((await readdir(folder)).sort(), ['1-pending', '1-pending@5']);
});

test('an upload whose file is gone, or has fewer bytes than were acknowledged, cannot continue', async (t) => {
  const { spool } = await newSpool(t, 100);
  await assert.rejects(spool.open(1, { token: 'a', offset: 3, size: 6 }), ItemNotFound);
  await send(spool, 1, 'a', 2, 6);
  await assert.rejects(spool.open(1, { token: 'a', offset: 3, size: 6 }), ItemNotFound);
});

test('a disk that fails makes the storage unavailable', async (t) => {
  const { spool, folder } = await newSpool(t, 100);
  await writeFile(folder, 'a file where the folder should be');
  await assert.rejects(spool.open(1, { token: 'a', offset: 0, size: 6 }), StorageUnavailable);
});
