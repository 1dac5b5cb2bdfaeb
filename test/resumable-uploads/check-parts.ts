import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { endExpiredUploads } from '#features/visits/resumable-uploads/end-expired-uploads.ts';
import { UploadWriters } from '#features/visits/resumable-uploads/upload-writers.ts';
import { startPostern, type TestPostern } from '../start.ts';
import { changeShare, createShare, hour, noPermissions, settableClock } from '../visit/visiting.ts';
import { sha256, tusClient } from './tus.ts';

/** Checks that an upload goes on if its share becomes a drop box between two parts, or stops being one. */
async function checkChangedShares(postern: TestPostern, location: string, bytes: Buffer): Promise<void> {
  const dropBox = { ...noPermissions, canUpload: true };
  for (const [before, after] of [
    [dropBox, { ...dropBox, canView: true }],
    [{ ...dropBox, canView: true }, dropBox],
  ] as const) {
    const { base, id } = await createShare(postern, { ...before, location });
    const tus = tusClient(postern, base);
    const address = await tus.begin(`changed-${before.canView}.bin`, bytes.length);
    assert.equal((await tus.patch(address, 0, bytes.subarray(0, 9_000_000))).status, 204);
    await changeShare(postern, id, after);
    const last = await tus.patch(address, 9_000_000, bytes.subarray(9_000_000));
    assert.deepEqual([last.status, last.headers['repr-digest']], [204, `sha-256=:${sha256(bytes)}:`]);
  }
}

/**
 * Checks that uploads in parts at a location continue after a restart or a change of the share, work at a drop box, and expire.
 * @param listStaged returns the names of the files in the staging area, and of the unfinished uploads at the storage service
 */
export async function checkParts(
  t: TestContext,
  { location, data, environment }: { readonly location: string; readonly data: string; readonly environment: Record<string, string> },
  addLocation: (postern: TestPostern) => Promise<unknown>,
  listStaged: () => Promise<readonly string[]>,
): Promise<void> {
  const first = await startPostern(t, { data, environment });
  await addLocation(first);
  const { base } = await createShare(first, { location });
  const dropBox = await createShare(first, { ...noPermissions, canUpload: true, location });
  const bytes = randomBytes(19_000_000);
  const address = await tusClient(first, base).begin('large.bin', bytes.length);
  assert.equal((await tusClient(first, base).patch(address, 0, bytes.subarray(0, 9_000_000))).status, 204);
  await first.stop();

  const clock = settableClock();
  const second = await startPostern(t, { data, environment, replacements: { ports: { clock } } });
  const tus = tusClient(second, base);
  const { pathname } = new URL(address);
  assert.equal(await tus.offset(pathname), 9_000_000);
  assert.equal((await second.visit(`${base}/file/large.bin`, { method: 'HEAD' })).status, 404);
  const last = await tus.patch(pathname, 9_000_000, bytes.subarray(9_000_000));
  assert.deepEqual([last.status, last.headers['repr-digest']], [204, `sha-256=:${sha256(bytes)}:`]);
  assert.deepEqual(await listStaged(), []);

  const dropBoxAddress = await tusClient(second, dropBox.base).begin('large.bin', 12);
  for (const [offset, part] of [
    [0, 'seven b'],
    [7, 'ytes.'],
  ] as const)
    assert.equal((await tusClient(second, dropBox.base).patch(dropBoxAddress, offset, part)).status, 204);
  const { entries } = (await second.visit(`${base}/list`)).body;
  assert.deepEqual(entries.map(({ size }: { size: number }) => size).sort(), [12, bytes.length]);

  await checkChangedShares(second, location, bytes);
  assert.deepEqual(await listStaged(), []);

  const expiring = await tus.begin('expiring.bin', bytes.length);
  await tus.patch(expiring, 0, bytes.subarray(0, 9_000_000));
  assert.notDeepEqual(await listStaged(), []);
  clock.advance(26 * hour);
  await endExpiredUploads(second.ports, new UploadWriters(() => 0));
  assert.deepEqual(await listStaged(), []);
  assert.deepEqual(
    await second.ports.store.read.selectFrom('resumable_upload').select('id').where('stored_name', 'is', null).execute(),
    [],
  );
}
