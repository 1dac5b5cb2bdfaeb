import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { formatItemPath, type ItemPath, parseStoredPath, rootPath, splitPath } from '#core/item-path.ts';
import { beginChange, startAgain } from '#features/visits/files/overlapping-changes.ts';
import { recordEarlierChanges } from '#features/visits/files/record-earlier-changes.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import { ItemBusy, StorageUnavailable } from '#ports/storage-errors.ts';
import { freePort } from '../parts/free-port.ts';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

test('a new file does not wait for other uploads with its name, but before a file is replaced, the outcome of each of them is found out', async (t) => {
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

/**
 * Starts Postern with a pending change.
 * @returns functions that set and end this change, and one that tries to begin another at a service
 */
async function startWithPendingChange(t: TestContext) {
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { store } = postern.ports;
  const update = (columns: object, name = 'a.txt') =>
    store.write((tx) => tx.updateTable('unsettled').set(columns).where('name', '=', name).execute(), 'job');
  const startOf = async (name: string) =>
    Number((await store.read.selectFrom('unsettled').select('started').where('name', '=', name).executeTakeFirstOrThrow()).started);
  const setPending = async (place: string, action: PendingFileChange['action'], newPlace = '', over: object = {}) => {
    await update({ place, new_place: newPlace, token: 'other', started: Date.now(), ...over });
    await store.write((tx) => tx.updateTable('audit').set({ action }).where('outcome', '=', 'begun').execute(), 'job');
  };
  const row = await store.read.selectFrom('unsettled').select('location_id').executeTakeFirstOrThrow();
  const storage = { folderKey: async (path: ItemPath) => `service ${formatItemPath(path)}` };
  const begin = (path: string, action: PendingFileChange['action'], newName?: string) => {
    const { parent, name } = splitPath(parseStoredPath(path) ?? rootPath) ?? assert.fail(path);
    const names = newName === undefined ? [name] : [name, newName];
    return beginChange(postern.ports, storage, { tid: 1, locationId: row.location_id, parent, names, action, token: 'own' }).then(
      () => 'begins',
      (cause) => (cause instanceof ItemBusy ? 'refused' : assert.fail(cause)),
    );
  };
  return { postern, base, setPending, startOf, update, begin, end: () => update({ place: '', started: 0 }) };
}

test('while a folder is renamed at a service, no change begins below its old or its new name', async (t) => {
  const { setPending, begin } = await startWithPendingChange(t);
  await setPending('service /p/q/', 'rename', 'service /p/n/');
  for (const folder of ['/p/q', '/p/n'])
    for (const action of ['createFolder', 'rename', 'delete'] as const) assert.equal(await begin(`${folder}/r`, action), 'refused', action);
  for (const path of ['/p/q', '/p/qr', '/other/q/r']) assert.equal(await begin(path, 'delete'), 'begins', path);
  await setPending('service /p/q/', 'upload');
  assert.equal(await begin('/p/q/r', 'delete'), 'begins');
});

test('a rename or deletion of a folder at a service waits for changes of items below that have begun', async (t) => {
  const { setPending, begin, end } = await startWithPendingChange(t);
  for (const action of ['upload', 'createFolder', 'rename', 'delete'] as const)
    for (const change of ['rename', 'delete'] as const) {
      await setPending('service /p/q/r/', action);
      const waiting = begin('/p', change);
      assert.equal(await Promise.race([waiting, begin('/p/s', 'delete')]), 'begins');
      await end();
      assert.equal(await waiting, 'begins', `${change} above ${action}`);
    }
  await setPending('service /p/q/r/', 'upload', '', { started: 0 });
  assert.equal(await begin('/p', 'rename', 'n'), 'begins');
});

test('a change that began long ago blocks the folders above and below, but only as long as its location responds', async (t) => {
  const { postern, setPending, begin, end } = await startWithPendingChange(t);
  const started = Date.now() - 30 * 60_000;
  const addLocation = async (name: string, kind: string, configuration: object): Promise<number> =>
    (await postern.call('location/add', { name, kind, configuration: JSON.stringify(configuration) })).id;
  const folder = join(postern.files, 'other');
  await mkdir(folder);
  const address = `http://127.0.0.1:${await freePort()}/`;
  const [responding, ...silent] = [
    await addLocation('responding', 'local', { path: folder }),
    await addLocation('webdav', 'webdav', { url: address, username: 'ann', password: 'secret' }),
    await addLocation('s3', 's3', { endpoint: address, region: 'default', bucket: 'bucket', accessKeyId: 'id', secretAccessKey: 'secret' }),
  ];
  for (const location of [{}, { location_id: responding }]) {
    await setPending('service /p/q/', 'rename', 'service /p/n/', { started, ...location });
    assert.equal(await begin('/p/q/r', 'delete'), 'refused');
    const waiting = begin('/p', 'delete');
    assert.equal(await Promise.race([waiting, begin('/other', 'delete')]), 'begins');
    await end();
    assert.equal(await waiting, 'begins');
  }
  for (const location_id of silent) {
    await setPending('service /p/q/', 'rename', 'service /p/n/', { started, location_id });
    for (const path of ['/p/q/r', '/p']) assert.equal(await begin(path, 'delete'), 'begins', path);
  }
});

test('recovery renews a change only if its location responds and no overlapping change runs that has begun since', async (t) => {
  const { postern, base, setPending, startOf, update } = await startWithPendingChange(t);
  const started = Date.now() - 30 * 60_000;
  await setPending('service /p/q/', 'rename', 'service /p/n/', { started });
  const change = { tid: 1, token: 'other', action: 'rename' } as const;
  const root = { name: '', folder: true, size: 0, modified: null, etag: '' };
  const responding = { stat: async () => root, check: async () => {} };
  const silent = { stat: async () => root, check: () => Promise.reject(new StorageUnavailable('it does not respond')) };
  await assert.rejects(startAgain(postern.ports, silent, change), StorageUnavailable);
  assert.equal(await startOf('a.txt'), started);
  await uploadWithoutRecord(t, postern, `${base}/file/b.txt`);
  await update({ place: 'service /p/q/b.txt/', started: started + 60_000 * 20 }, 'b.txt');
  await assert.rejects(startAgain(postern.ports, responding, change), ItemBusy);
  assert.equal(await startOf('a.txt'), started);
  await update({ started: started + 60_000 * 20, running: 0 }, 'b.txt'); // it waits for this change, and its visitor tries again and again
  using _started = await startAgain(postern.ports, responding, change);
  assert.notEqual(await startOf('a.txt'), started);
});

test('at a service, a received file becomes visible only after the rename of a folder above it has ended', async (t) => {
  const { setPending, begin, end } = await startWithPendingChange(t);
  await setPending('service /p/', 'rename', 'service /n/');
  let hasBegun = false;
  const waiting = begin('/n/q/file', 'upload').finally(() => {
    hasBegun = true;
  });
  assert.equal(await begin('/other/file', 'upload'), 'begins');
  assert.equal(hasBegun, false);
  await end();
  assert.equal(await waiting, 'begins');
});
