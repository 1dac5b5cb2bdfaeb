import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStoredPath, rootPath, splitPath } from '#core/item-path.ts';
import { checkOverlaps } from '#features/visits/files/overlapping-changes.ts';
import { recordEarlierChanges } from '#features/visits/files/record-earlier-changes.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import { ItemBusy } from '#ports/storage-errors.ts';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

test('a new file does not wait for other uploads with its name, but a replacement finds out the outcome of each of them', async (t) => {
  const { postern, calls, release } = await startWithBlockedMethod(t, 'upload.place');
  const { base } = await createShare(postern);
  const uploads = Array.from({ length: 5 }, () => sendPath(postern, `${base}/file/a.txt`, { method: 'PUT', body: 'text' }));
  await until(() => calls() === 5);
  const recovered: PendingFileChange[] = [];
  const storage = {
    traits: { create: 'checked', replace: 'checked', folders: 'real', openAhead: 0 },
    recover: async (change: PendingFileChange) => {
      recovered.push(change);
      return null;
    },
    giveUp: async () => false,
    clearEvidence: async () => {},
    folderKey: async () => '',
  } as const;
  const used = { tid: 1, locationId: 1, parent: rootPath, names: ['a.txt'] };
  await recordEarlierChanges(postern.ports, storage, { ...used, existing: null }, 'later');
  assert.equal(recovered.length, 0);
  await recordEarlierChanges(postern.ports, storage, { ...used, existing: 'a.txt' }, 'later');
  assert.equal(recovered.length, 5);
  release();
  await Promise.all(uploads);
});

test('while an item is renamed at a service, no item in it or folder above it can be renamed or deleted', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { store } = postern.ports;
  const setPending = (parent: string, name: string, action: 'rename' | 'upload') =>
    store.write(async (tx) => {
      await tx.updateTable('unsettled').set({ parent, name, token: 'other' }).execute();
      await tx.updateTable('audit').set({ action }).where('outcome', '=', 'begun').execute();
    }, 'job');
  const row = await store.read.selectFrom('unsettled').select('location_id').executeTakeFirstOrThrow();
  const check = (path: string, action: 'createFolder' | 'rename' | 'delete') => {
    const place = splitPath(parseStoredPath(path) ?? rootPath) ?? assert.fail(path);
    const item = { tid: 1, locationId: row.location_id, ...place, action };
    return checkOverlaps(postern.ports, item, 'own').then(
      () => 'free',
      (cause) => (cause instanceof ItemBusy ? 'busy' : assert.fail(cause)),
    );
  };
  await setPending('/p', 'q', 'rename');
  for (const action of ['createFolder', 'rename', 'delete'] as const) assert.equal(await check('/p/q/r', action), 'busy', action);
  for (const action of ['rename', 'delete'] as const) assert.equal(await check('/p', action), 'busy', action);
  for (const path of ['/p/q', '/p/qr', '/other/q/r']) assert.equal(await check(path, 'delete'), 'free', path);
  await setPending('/p', 'q', 'upload');
  assert.equal(await check('/p/q/r', 'delete'), 'free');
});
