import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { formatItemPath, type ItemPath, parseStoredPath, rootPath, splitPath } from '#core/item-path.ts';
import { waitForChangesAbove, waitForChangesBelow } from '#features/visits/files/overlapping-changes.ts';
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

/** Starts Postern with the row of a pending change, and a function that tells whether a change at a service may begin beside it. */
async function startWithPendingChange(t: TestContext) {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { store } = postern.ports;
  const setPending = (parent: string, name: string, action: PendingFileChange['action'], newName = '', started: 0 | 1 = 1) =>
    store.write(async (tx) => {
      await tx.updateTable('unsettled').set({ parent, name, new_name: newName, token: 'other', started }).execute();
      await tx.updateTable('audit').set({ action }).where('outcome', '=', 'begun').execute();
    }, 'job');
  const row = await store.read.selectFrom('unsettled').select('location_id').executeTakeFirstOrThrow();
  const storage = { folderKey: async (path: ItemPath) => formatItemPath(path) };
  const changeAt = (path: string, action: PendingFileChange['action'], newName?: string) => {
    const { parent, name } = splitPath(parseStoredPath(path) ?? rootPath) ?? assert.fail(path);
    const names = newName === undefined ? [name] : [name, newName];
    return { tid: 1, locationId: row.location_id, parent, names, action, token: 'own' };
  };
  const outcomeOf = (waiting: Promise<void>) =>
    waiting.then(
      () => 'begins',
      (cause) => (cause instanceof ItemBusy ? 'refused' : assert.fail(cause)),
    );
  const begin = (path: string, action: PendingFileChange['action'], newName?: string) =>
    outcomeOf(waitForChangesBelow(postern.ports, storage, changeAt(path, action, newName)));
  const place = (path: string) => outcomeOf(waitForChangesAbove(postern.ports, storage, changeAt(path, 'upload')));
  return { postern, setPending, begin, place };
}

test('while a folder is renamed at a service, no change begins below its old or its new name', async (t) => {
  const { setPending, begin } = await startWithPendingChange(t);
  await setPending('/p', 'q', 'rename', 'n');
  for (const folder of ['/p/q', '/p/n'])
    for (const action of ['createFolder', 'rename', 'delete'] as const) assert.equal(await begin(`${folder}/r`, action), 'refused', action);
  for (const path of ['/p/q', '/p/qr', '/other/q/r']) assert.equal(await begin(path, 'delete'), 'begins', path);
  await setPending('/p', 'q', 'upload');
  assert.equal(await begin('/p/q/r', 'delete'), 'begins');
});

test('a rename or deletion of a folder at a service waits for changes of items below that have begun, and for no others', async (t) => {
  const { postern, setPending, begin } = await startWithPendingChange(t);
  for (const action of ['upload', 'createFolder', 'rename', 'delete'] as const)
    for (const change of ['rename', 'delete'] as const) {
      await setPending('/p/q', 'r', action);
      const waiting = begin('/p', change);
      assert.equal(await Promise.race([waiting, begin('/p/s', 'delete')]), 'begins');
      await postern.ports.store.write((tx) => tx.updateTable('unsettled').set({ parent: '/elsewhere' }).execute(), 'job');
      assert.equal(await waiting, 'begins', `${change} above ${action}`);
    }
  await setPending('/p/q', 'r', 'upload', '', 0);
  assert.equal(await begin('/p', 'rename', 'n'), 'begins');
});

test('at a service, a received file becomes visible only after the rename of a folder above it has ended, and then it has begun', async (t) => {
  const { postern, setPending, place } = await startWithPendingChange(t);
  const { store } = postern.ports;
  await setPending('/', 'p', 'rename', 'n');
  let hasBegun = false;
  const waiting = place('/n/q/file').then((outcome) => {
    hasBegun = true;
    return outcome;
  });
  assert.equal(await place('/other/file'), 'begins');
  assert.equal(hasBegun, false);
  await store.write((tx) => tx.updateTable('unsettled').set({ parent: '/elsewhere' }).execute(), 'job');
  assert.equal(await waiting, 'begins');
});
