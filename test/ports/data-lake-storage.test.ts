import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { DataLakeStorage } from '#adapters/storage/azure/data-lake-storage.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import { ChangeImpossible, OutcomeUnknown, StorageBusy, StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { FakeDataLake } from '../parts/fake-data-lake.ts';
import { azureServices } from '../parts/open-azure.ts';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';
import { checkParts } from '../resumable-uploads/check-parts.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { checkFileActions } from '../visit/file-actions.ts';
import {
  createFolder,
  namesIn,
  newToken,
  parsePath,
  putFile,
  readText,
  removeItem,
  renameItem,
  storageContract,
} from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
after(() => outbound[Symbol.asyncDispose]());

const open = (configuration: AzureConfiguration, over = {}) =>
  new DataLakeStorage(configuration, 1, { ...azureServices(outbound), ...over });

/** Starts a fake account. @returns it, and the configuration of a location in it */
async function startFake(t: TestContext) {
  const service = new FakeDataLake();
  const configuration = await service.start();
  atEnd(t, () => service[Symbol.asyncDispose]());
  return { service, configuration };
}

/** Returns the names of the files in the staging area of a location. */
const stagedIn = ({ items }: FakeDataLake, folder = '.postern') =>
  [...items.keys()].filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));

/** Returns the names of the files of unfinished uploads in the folder POSTERN_DATA. */
function spooledIn(data: string): string[] {
  const folder = join(data, 'uploads');
  return existsSync(folder) ? readdirSync(folder) : [];
}

storageContract('Azure Data Lake (fake)', async (t) => open((await startFake(t)).configuration));
test('a location in a folder of a hierarchical Azure account contains this folder only', async (t) => {
  const { configuration } = await startFake(t);
  const whole = open(configuration);
  await createFolder(whole, parsePath('/'), 'inner');
  await putFile(whole, '/', 'outside', 'text');
  const inner = open({ ...configuration, prefix: '/inner/' });
  await putFile(inner, '/', 'file', 'text');
  assert.deepEqual([await namesIn(inner, '/'), await readText(whole, '/inner/file')], [['file'], 'text']);
});

test('a location with hierarchicalNamespace refuses a flat Azure account, and the error says why', async (t) => {
  const { service, configuration } = await startFake(t);
  service.hasHierarchy = false;
  await assert.rejects(open(configuration).check(), /must not have hierarchicalNamespace/);
});

test('a folder of a hierarchical Azure account is renamed by one request, and is deleted with everything in it', async (t) => {
  const { service, configuration } = await startFake(t);
  const storage = open(configuration);
  await createFolder(storage, parsePath('/'), 'old');
  for (const name of ['a', 'b', 'c']) await putFile(storage, '/old', name, name);
  service.requests.length = 0;
  await renameItem(storage, parsePath('/'), 'old', 'new');
  assert.deepEqual(await namesIn(storage, '/new'), ['a', 'b', 'c']);
  assert.equal(service.requests.filter((request) => request.startsWith('PUT /acme/reports/new')).length, 1);
  await removeItem(storage, parsePath('/'), 'new');
  assert.deepEqual([await namesIn(storage, '/'), stagedIn(service)], [[], []]);
});

test('a folder of a hierarchical Azure account with more files than one page of a list is listed completely', async (t) => {
  const { service, configuration } = await startFake(t);
  const storage = open(configuration);
  await putFile(storage, '/', 'first', '1');
  const [item] = service.items.values();
  for (let index = 0; index < 2500 && item; index += 1) service.items.set(`file ${index}`, { ...item, folder: false });
  assert.equal((await namesIn(storage, '/'))?.length, 2501);
});

test('a list of a hierarchical Azure account takes memory of the tenant, and gives it back', async (t) => {
  const { service, configuration } = await startFake(t);
  const storage = open(configuration, { memory: storageMemory(1 << 20) });
  await putFile(storage, '/', 'first', '1');
  await createFolder(storage, parsePath('/'), 'folder');
  const item = service.items.get('first');
  for (let index = 0; index < 1500 && item; index += 1) service.items.set(`folder/file ${index}`, { ...item, folder: false });
  await assert.rejects(namesIn(storage, '/folder'), StorageBusy);
  for (let count = 0; count < 3; count += 1) assert.ok((await namesIn(storage, '/'))?.includes('first'));
});

test('recovery finds out whether a rename in a hierarchical Azure account took place', async (t) => {
  const { service, configuration } = await startFake(t);
  const parent = parsePath('/');
  for (const isDone of [true, false]) {
    const storage = open(configuration);
    for (const name of ['a', 'b']) await putFile(storage, '/', name, name);
    // Either the request that moves the item is lost, or only its response.
    service.intercept = (request, response) => {
      if (request.headers['x-ms-rename-source'] === undefined) return false;
      service.intercept = (_, later) => Boolean(later.destroy());
      if (isDone) {
        const from = decodeURIComponent(`${request.headers['x-ms-rename-source']}`.replace('/reports/', ''));
        const to = decodeURIComponent((request.url ?? '').replace('/acme/reports/', ''));
        const moved = service.items.get(from);
        service.items.delete(from);
        if (moved) service.items.set(to, moved);
      }
      response.destroy();
      return true;
    };
    const change = { action: 'rename', parent, name: 'a', newName: 'a2', token: newToken() } as const;
    await assert.rejects(storage.rename(parent, 'a', 'a2', { ...change, pendingTokens: [] }), OutcomeUnknown);
    service.intercept = () => false;
    const later = open(configuration, { now: () => Date.now() + 3_600_000 });
    assert.equal(await later.recover(change), isDone ? 'a2' : null);
    await later.clearEvidence(change);
    assert.equal(await readText(later, isDone ? '/a2' : '/a'), 'a');
    for (const name of (await namesIn(later, '/')) ?? []) await removeItem(later, parent, name);
  }
});

test('a leased file of a hierarchical Azure account cannot be renamed, and the error says why', async (t) => {
  const { service, configuration } = await startFake(t);
  const storage = open(configuration);
  await putFile(storage, '/', 'leased', 'text');
  service.intercept = ({ headers }, response) => {
    if (headers['x-ms-rename-source'] === undefined) return false;
    response.writeHead(412, { 'x-ms-error-code': 'LeaseIdMissing' }).end();
    return true;
  };
  await assert.rejects(
    renameItem(storage, parsePath('/'), 'leased', 'new'),
    (cause) => cause instanceof ChangeImpossible && /lease/.test(cause.message),
  );
  assert.deepEqual(await namesIn(storage, '/'), ['leased']);
});

const deletion = { action: 'delete', parent: parsePath('/'), name: 'a', newName: '' } as const;

test('at a hierarchical Azure account, at most four deletions of evidence run at the same time', async (t) => {
  const { service, configuration } = await startFake(t);
  const storage = open(configuration);
  let [running, most] = [0, 0];
  service.intercept = ({ method }, response) => {
    if (method !== 'DELETE') return false;
    running += 1;
    most = Math.max(most, running);
    setImmediate(() => {
      running -= 1;
      response.end();
    });
    return true;
  };
  await Promise.all(Array.from({ length: 20 }, () => storage.clearEvidence({ ...deletion, token: newToken() })));
  assert.ok(most <= 4, `${most} at a time`);
});

test('a deletion fails if a hierarchical Azure account always returns another continuation token', async (t) => {
  const { service, configuration } = await startFake(t);
  let pages = 0;
  service.intercept = ({ method, url = '' }, response) => {
    if (method !== 'DELETE') return false;
    pages += 1;
    response.writeHead(url.includes('recursive=true') ? 200 : 409, { 'x-ms-continuation': `${pages}` }).end();
    return true;
  };
  await assert.rejects(open(configuration).clearEvidence({ ...deletion, token: newToken() }), StorageUnavailable);
});

test('an invalid list of a hierarchical Azure account makes the location unavailable', async (t) => {
  const { service, configuration } = await startFake(t);
  const entry = { contentLength: '1', etag: '0x1', lastModified: new Date().toUTCString() };
  for (const body of ['<html>', '[]', '{"paths":{}}', JSON.stringify({ paths: [{ ...entry, name: 'other/a' }] }), '['.repeat(1 << 20)]) {
    service.intercept = ({ url = '', method }, response) => {
      const isList = method === 'GET' && url.includes('recursive=false');
      if (isList) response.end(body);
      return isList;
    };
    await assert.rejects(
      namesIn(open(configuration), '/').then(async (names) => names === null || (await open({ ...configuration, prefix: 'x' }).check())),
      StorageUnavailable,
      body.slice(0, 40),
    );
  }
});

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
const addLocation = async (postern: TestPostern, configuration: object) =>
  (await postern.call('location/add', { name: 'lake', kind: 'azure', configuration: JSON.stringify(configuration) })).id;

test('at a hierarchical Azure account, visitors list, upload, download, archive, rename and delete, and the location can be tested', async (t) => {
  const { configuration } = await startFake(t);
  const postern = await startPostern(t, { environment });
  const id = await addLocation(postern, configuration);
  await checkFileActions(postern, 'lake');
  const { works, steps } = await postern.call('location/test', { id });
  const names = steps.map(({ step }: { step: string }) => step).join(' ');
  assert.deepEqual([works, names], [true, 'connect signIn list write read conditions remove']);
});

test('at a hierarchical Azure account, an upload in parts continues after a restart, and leaves no staging files', async (t) => {
  const { service, configuration } = await startFake(t);
  const place = { location: 'lake', data: await temporaryFolder(t), environment };
  await checkParts(
    t,
    place,
    (postern) => addLocation(postern, configuration),
    async () => [...spooledIn(place.data), ...stagedIn(service)],
  );
});

test('uploads in parts to a hierarchical Azure account continue after the process was killed, and lose no acknowledged part', async (t) => {
  const { service, configuration } = await startFake(t);
  const location = { name: 'lake', kind: 'azure', configuration: JSON.stringify(configuration) };
  const storage = open(configuration, { now: () => Date.now() + 2 * 3_600_000 });
  await checkKilledUploads(
    t,
    {
      environment,
      location,
      listStaged: async (data) => [...spooledIn(data), ...stagedIn(service)],
      sweep: () => storage.sweep(async () => []),
    },
    350,
  );
});
