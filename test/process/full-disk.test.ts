// Tests of a full disk of POSTERN_DATA. Each test mounts its own file system, which needs root.
import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountSmallDisk } from '../ports/small-disk.ts';
import { until } from '../ports/until.ts';
import { newShare } from '../start.ts';
import { type RunningPostern, runPostern } from './run-postern.ts';

const mebibyte = 1 << 20;
const piece = Buffer.alloc(4096, 'x');

const freeBytes = (folder: string) => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** Waits until the reserve file has its full size. Postern deletes this file when the disk is full. */
const waitForReserve = (data: string) => until(() => statSync(join(data, 'reserve'), { throwIfNoEntry: false })?.size === 8 * mebibyte);

/** Appends to a file until the disk is full, or until `bytes` are written. */
function fill(file: string, bytes = Number.POSITIVE_INFINITY): void {
  const descriptor = openSync(file, 'a');
  try {
    for (let written = 0; written < bytes; written += piece.length) writeSync(descriptor, piece);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause;
  } finally {
    closeSync(descriptor);
  }
}

const put = (link: string, name: string, bytes: number) =>
  fetch(`${link}/file/${name}`, { method: 'PUT', body: new Uint8Array(bytes) }).then(async (response) => {
    await response.arrayBuffer();
    return response.status;
  });
const get = async (link: string, path: string) => {
  const response = await fetch(`${link}/${path}`);
  return { status: response.status, length: (await response.arrayBuffer()).byteLength };
};
const readiness = async (postern: RunningPostern) => {
  const response = await fetch(`${postern.publicUrl}/health/ready`);
  return { code: response.status, ...((await response.json()) as { status: string }) };
};
const addShare = async (postern: RunningPostern) => (await postern.send('share/add', newShare())).status;

test('on a full disk, changes get 507 until space is free, and visitors can read, even after a restart', { timeout: 60_000 }, async (t) => {
  const disk = mountSmallDisk(t, 'size=48m');
  if (disk === null) return;
  const data = join(disk, 'data');
  const environment = { POSTERN_DATA: data, POSTERN_MIN_FREE_SPACE: '0' };
  const postern = await runPostern(t, environment);
  const link = (await postern.send('share/add', newShare())).body.viewUrl;
  assert.equal(await put(link, 'kept.bin', mebibyte), 201);
  await waitForReserve(data);

  fill(join(disk, 'filler'));
  await until(async () => (await addShare(postern)) === 507); // the first changes may succeed: Postern deletes the reserve file to make space for them
  assert.equal(await put(link, 'late.bin', 10), 507);
  for (let number = 0; number < 20; number += 1) assert.deepEqual(await get(link, 'file/kept.bin'), { status: 200, length: mebibyte });
  assert.deepEqual(await readiness(postern).then(({ code, status }) => [code, status]), [200, 'full']);

  postern.child.kill('SIGKILL');
  await postern.ended;
  fill(join(disk, 'filler'));
  const again = await runPostern(t, environment);
  const sameLink = link.replace(postern.publicUrl, again.publicUrl);
  assert.match(again.output(), /disk of the database \(in POSTERN_DATA, or on the PostgreSQL server\) is full/);
  assert.equal((await get(sameLink, 'list')).status, 200);
  assert.equal(await addShare(again), 507);
  assert.deepEqual(await readiness(again).then(({ code, status }) => [code, status]), [200, 'full']);

  rmSync(join(disk, 'filler'));
  await until(async () => (await readiness(again)).status === 'ready');
  assert.equal(await addShare(again), 200);
  assert.equal(await put(sameLink, 'late.bin', 10), 201);
  assert.equal((await again.send('share/search')).body.list.at(0).id, 1);
});

test('after a clean stop, Postern starts on a full disk and serves listings', { timeout: 60_000 }, async (t) => {
  const disk = mountSmallDisk(t, 'size=48m');
  if (disk === null) return;
  const data = join(disk, 'data');
  const environment = { POSTERN_DATA: data, POSTERN_MIN_FREE_SPACE: '0' };
  const postern = await runPostern(t, environment);
  const link = (await postern.send('share/add', newShare())).body.viewUrl;
  await waitForReserve(data);

  postern.child.kill('SIGTERM');
  await postern.ended;
  fill(join(disk, 'filler'));
  const again = await runPostern(t, environment);
  assert.equal((await get(link.replace(postern.publicUrl, again.publicUrl), 'list')).status, 200);
});

test('visitors cannot use the minimum free space, and management changes still work', { timeout: 60_000 }, async (t) => {
  const disk = mountSmallDisk(t, 'size=64m');
  if (disk === null) return;
  const postern = await runPostern(t, { POSTERN_DATA: join(disk, 'data'), POSTERN_MIN_FREE_SPACE: '24' });
  const link = (await postern.send('share/add', newShare())).body.viewUrl;
  await waitForReserve(join(disk, 'data'));
  let number = 0;
  await until(async () => {
    number += 1;
    return (await put(link, `${number}.bin`, 4 * mebibyte)) === 507;
  });
  assert.ok(freeBytes(disk) >= 23 * mebibyte, `${freeBytes(disk)} bytes are left`);
  fill(join(disk, 'filler'), freeBytes(disk) - 20 * mebibyte);
  assert.equal((await fetch(`${link}/folder/new`, { method: 'POST' })).status, 507);
  assert.equal((await fetch(`${link}/file/1.bin`, { method: 'DELETE' })).status, 204);
  assert.equal(await addShare(postern), 200);
  assert.equal((await readiness(postern)).status, 'ready');
});
