import assert from 'node:assert/strict';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CommandName } from '../../src/adapters/storage/disk/disk-commands.ts';
import { createHangingDisk } from '../parts/hanging-disk.ts';
import { startWithThreads } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { type StartOptions, type TestPostern, type TestResponse, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest } from './visiting.ts';

const large = 1 << 20; // bytes: when a thread opens a file, it sends the content at once only if the file is smaller

/** Starts Postern with two locations: `local`, and `hung`, whose disk hangs in the commands that the test passes to `disk.hang`. */
async function startWithHungLocation(t: TestContext, maxChangeTime = 30_000) {
  const data = await realpath(await temporaryFolder(t));
  const folder = join(data, 'files/hung');
  await mkdir(folder, { recursive: true });
  const disk = await createHangingDisk(t, folder);
  const limits = { maxFileSize: 1 << 30, auditDays: 365, minFreeSpace: 0, maxChangeTime };
  const start = (options: StartOptions = {}) =>
    startWithThreads(t, disk.threads, { data, replacements: { ports: { limits } }, ...options });
  const postern = await start();
  for (const directory of [postern.files, folder]) {
    await writeFile(join(directory, 'small.txt'), 'a text');
    await writeFile(join(directory, 'large.bin'), Buffer.alloc(large, 7));
    await mkdir(join(directory, 'sub'));
    await mkdir(join(directory, 'old'));
  }
  await postern.call('location/add', { name: 'hung', kind: 'local', configuration: JSON.stringify({ folder }) });
  const { base } = await createShare(postern, { location: 'hung', path: '/' });
  return { ...{ data, disk, postern, start, folder, base }, other: await createShare(postern, { path: '/sub' }) };
}

/** Uses everything that must not wait for the disk of another location. */
async function useOtherLocation(postern: TestPostern, base: string): Promise<void> {
  const name = `file-${Math.random()}`;
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  assert.equal((await postern.visit(`${base}/file/${name}`, { method: 'PUT', body: Buffer.alloc(large, 1) })).status, 201);
  const download = await fetch(`${postern.publicUrl}${base}/file/${name}`);
  assert.equal((await download.arrayBuffer()).byteLength, large);
  assert.equal((await postern.visit(`${base}/zip`)).status, 200);
  assert.equal((await postern.visit(`${base}/folder/${name}-folder`, { method: 'POST' })).status, 201);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: name, name: `${name}-new` }))).status, 200);
  assert.equal((await postern.visit(`${base}/file/${name}-new`, { method: 'DELETE' })).status, 204);
  assert.equal((await postern.visit(`${base}/sign-in`, jsonPostRequest({}))).status < 500, true);
  assert.equal((await postern.send('share/search')).status, 200);
  assert.equal((await postern.send('location/test', { id: 1 })).status, 200);
  assert.equal((await postern.visit('/health/live')).status, 200);
}

interface HungRequest {
  readonly title: string;
  readonly commands: readonly CommandName[];
  readonly path: string;
  readonly init?: RequestInit;
  readonly status: number;
}

const upload = { method: 'PUT', body: Buffer.alloc(3 << 20, 1) };
const smallUpload = { method: 'PUT', body: 'a text' };
const hungRequests: readonly HungRequest[] = [
  { title: 'a lookup', commands: ['readFiles'], path: 'file/small.txt', status: 200 },
  { title: 'the list of a folder', commands: ['readPage'], path: 'list', status: 200 },
  { title: 'the list of an archive', commands: ['openList'], path: 'zip', status: 200 },
  { title: 'the read of a file', commands: ['read'], path: 'file/large.bin', status: 200 },
  { title: 'the start of an upload', commands: ['openUpload'], path: 'file/started', init: upload, status: 201 },
  { title: 'the write of an upload', commands: ['writeUpload'], path: 'file/written', init: upload, status: 201 },
  { title: 'the sync of an upload', commands: ['syncUpload'], path: 'file/synced', init: upload, status: 201 },
  { title: 'the upload of a small file', commands: ['storeSmallUpload'], path: 'file/stored', init: smallUpload, status: 201 },
  { title: 'the placing of an uploaded file', commands: ['placeUpload'], path: 'file/placed', init: upload, status: 201 },
  { title: 'a new folder', commands: ['createFolder'], path: 'folder/one', init: { method: 'POST' }, status: 201 },
  { title: 'the sync of a folder', commands: ['syncFolder'], path: 'folder/two', init: { method: 'POST' }, status: 201 },
  { title: 'a rename', commands: ['rename'], path: 'rename', init: jsonPostRequest({ path: 'old', name: 'renamed' }), status: 200 },
  { title: 'a deletion', commands: ['remove'], path: 'file/small.txt', init: { method: 'DELETE' }, status: 204 },
];

test('a disk that hangs during one action does not delay requests to other locations', async (t) => {
  const { postern, disk, base, other } = await startWithHungLocation(t);
  for (const { title, commands, path, init, status } of hungRequests)
    await t.test(`${title}: the request succeeds when the disk responds`, async () => {
      disk.hang(...commands);
      const answer = postern.visit(`${base}/${path}`, init);
      await disk.untilBlocked();
      await useOtherLocation(postern, other.base);
      disk.release();
      assert.equal((await answer).status, status);
    });
});

test('a location that hangs is reported as unavailable, and the other locations are not', async (t) => {
  const { postern, disk } = await startWithHungLocation(t);
  disk.hang('check');
  await until(async () => {
    const { locations } = (await postern.visit('/health/ready')).body;
    return locations.map(({ answers }: { answers: boolean }) => answers).join() === 'true,false';
  });
});

test('requests to a disk that does not respond in time get 503 until the disk responds again', async (t) => {
  const { postern, disk, base, other } = await startWithHungLocation(t);
  const paths = ['file/small.txt', 'list'];
  disk.setResponseTimeout(3000);
  disk.hang('readFiles', 'readPage', 'read');
  for (const path of paths) assert.equal((await postern.visit(`${base}/${path}`)).status, 503, path);
  await useOtherLocation(postern, other.base);
  disk.release();
  for (const path of paths) await until(async () => (await postern.visit(`${base}/${path}`)).status === 200);
});

test('a change that a hung disk delays gets 503, and is recorded as done when it has taken place', async (t) => {
  const { postern, disk, base } = await startWithHungLocation(t, 100);
  disk.hang('createFolder', 'storeSmallUpload');
  const answers: TestResponse[] = [
    await postern.visit(`${base}/folder/new`, { method: 'POST' }),
    await postern.visit(`${base}/file/new.txt`, { method: 'PUT', body: 'a text' }),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 503);
    assert.match(body.detail, /may still take place/);
  }
  const outcomes = async () => {
    const { list } = await postern.call('audit/search');
    return list
      .filter(({ action }: { action: string }) => ['createFolder', 'upload'].includes(action))
      .map(({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`)
      .sort();
  };
  assert.deepEqual(await outcomes(), ['createFolder begun', 'upload begun']);
  disk.release();
  await until(async () => (await outcomes()).join() === 'createFolder done,upload done');
  assert.equal((await postern.visit(`${base}/file/new.txt`)).body, 'a text');
});

test('Postern starts and serves other locations while a location with an interrupted change hangs', async (t) => {
  const { postern, disk, base, other, start } = await startWithHungLocation(t);
  await uploadWithoutRecord(t, postern, `${base}/file/interrupted`);
  await postern.stop();
  disk.hang('openRoot', 'check');
  const restartedPostern = await start();
  await disk.untilBlocked();
  await useOtherLocation(restartedPostern, other.base);
  disk.release();
  await until(async () => {
    const { list } = await restartedPostern.call('audit/search', { action: 'upload' });
    return list.some(({ path, outcome }: { path: string; outcome: string }) => path === '/interrupted' && outcome === 'done');
  });
});

test('a location that hangs when it is opened blocks one thread, however often it is requested', async (t) => {
  const { postern, disk, base, start } = await startWithHungLocation(t);
  await postern.stop();
  disk.hang('openRoot');
  const restartedPostern = await start();
  const first = restartedPostern.visit(`${base}/list`);
  await disk.untilBlocked();
  disk.setResponseTimeout(1000);
  assert.equal((await first).status, 503);
  for (let time = 0; time < 3; time += 1) assert.equal((await restartedPostern.visit(`${base}/list`)).status, 503);
  assert.equal(disk.blockedCount(), 1);
  disk.setResponseTimeout(20_000);
  disk.release();
  await until(async () => (await restartedPostern.visit(`${base}/list`)).status === 200);
});

test('Postern stops while an upload to a location hangs, and the next start recovers the upload', async (t) => {
  const { postern, disk, base, start } = await startWithHungLocation(t, 100);
  disk.hang('storeSmallUpload');
  const answer = await postern.visit(`${base}/file/interrupted`, { method: 'PUT', body: 'a text' });
  assert.equal(answer.status, 503);
  await postern.stop();
  disk.release();
  const restartedPostern = await start();
  const { list } = await restartedPostern.call('audit/search', { action: 'upload' });
  const isThere = (await restartedPostern.visit(`${base}/file/interrupted`)).status === 200;
  assert.deepEqual(
    list.map(({ outcome }: { outcome: string }) => outcome),
    [isThere ? 'done' : 'failed'],
  );
});
