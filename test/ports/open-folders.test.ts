import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { RootGone } from '../../src/adapters/storage/disk/disk-errors.ts';
import type { OpenThread } from '../../src/adapters/storage/disk/folder-threads.ts';
import { inheritedModeAndGroup } from '../../src/adapters/storage/disk/mode-and-group.ts';
import { OpenFolders } from '../../src/adapters/storage/disk/open-folders.ts';
import type { DiskRequest } from '../../src/adapters/storage/disk/run-request.ts';
import { localStorage } from '../../src/adapters/storage/local-storage.ts';
import { localStorages } from '../../src/adapters/storage/local-storages.ts';
import { StorageUnavailable } from '../../src/ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';
import { parsePath, readText, startUpload } from './storage.contract.ts';
import { until } from './until.ts';

const descriptors = () => readdirSync('/proc/self/fd').length;
const threads = () => readdirSync('/proc/self/task').length;

async function storagesOf(t: TestContext) {
  const data = await temporaryFolder(t);
  const storages = localStorages([], data);
  atEnd(t, () => storages[Symbol.asyncDispose]());
  const open = (tid: number, configuration: string) => storages.open({ id: 1, tid, kind: 'local', configuration });
  const newFolder = (name: string) => {
    const folder = join(data, 'files', name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), 'its text');
    return folder;
  };
  return { open, newFolder };
}

test('a folder is opened once, even if a tenant changes the configuration of its location often', async (t) => {
  const { open, newFolder } = await storagesOf(t);
  const folder = newFolder('one');
  const read = async (configuration: string) => (await open(1, configuration)).stat(parsePath('file'));
  await read(JSON.stringify({ folder }));
  const before = { descriptors: descriptors(), threads: threads() };
  for (let spelling = 0; spelling < 100; spelling += 1) {
    const fileMode = `0${(0o600 + spelling).toString(8)}`;
    assert.ok(await read(`${JSON.stringify({ folder: `${folder}${'/'.repeat(spelling)}` })}${' '.repeat(spelling)}`));
    assert.ok(await read(JSON.stringify({ folder, fileMode })));
  }
  assert.ok(descriptors() <= before.descriptors + 2, `${descriptors()} descriptors after ${before.descriptors}`);
  assert.ok(threads() <= before.threads + 1, `${threads()} threads after ${before.threads}`);
});

test('the sweep of the staging areas of dozens of locations leaves only a few threads running, and deletes leftover entries', async (t) => {
  const { open, newFolder } = await storagesOf(t);
  const before = threads();
  const clear = async (name: string) => (await open(1, JSON.stringify({ folder: newFolder(name) }))).sweep(async () => []);
  await Promise.all(Array.from({ length: 40 }, (_, number) => clear(`empty-${number}`)));
  await until(() => threads() <= before + 10); // a thread for each folder would stay for a minute
  const folder = newFolder('left');
  mkdirSync(join(folder, '.postern', 'left over'), { recursive: true });
  await (await open(1, JSON.stringify({ folder }))).sweep(async () => []);
  assert.deepEqual(readdirSync(join(folder, '.postern')), []);
});

test('a location whose disk did not respond to a visitor counts as available once the disk responds again', async (t) => {
  const [parent, answers] = [await temporaryFolder(t), [] as (() => void)[]];
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  /** A fake thread. A lookup of a file gets its response when the test calls the next function in `answers`. */
  const openThread: OpenThread = ({ receive }) => ({
    post(message) {
      const { command } = message as DiskRequest;
      if (command === 'readFiles') return void answers.push(() => receive({ value: [{ kind: 'absent' }] }));
      setImmediate(() => receive({ value: command === 'openRoot' ? { descriptor: openSync(parent, 'r'), path: parent } : null }));
    },
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  const folders = new OpenFolders(4, { openThread, responseTimeout: 20_000 });
  atEnd(t, () => folders[Symbol.asyncDispose]());
  const folder = { tid: 1, path: parent, mountPoint: false };
  const visit = folders.use(folder, ({ lookups }) => lookups.stat(parsePath('file')));
  await until(() => answers.length > 0);
  now += 21_000;
  await assert.rejects(folders.check(folder), StorageUnavailable);
  answers[0]?.();
  await visit.catch(() => {});
  await folders.check(folder);
});

test('if a disk responds too late and its late result cannot be discarded, Postern keeps running', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const [parent, answers, discardCommands] = [await temporaryFolder(t), [] as (() => void)[], [] as string[]];
  const staged = { file: -1, staging: { folder: -1, name: 'token' }, token: 'token', floor: 0, mustSyncName: false };
  const file = { name: 'file', folder: false, size: 1 << 20, modified: 0, etag: 'etag' };
  const lateResults: Readonly<Partial<Record<string, unknown>>> = {
    readFiles: [{ kind: 'open', entry: file, descriptors: [-1] }],
    openUpload: staged,
    reopenUpload: staged,
  };
  /** A fake thread. A command in `lateResults` gets its result when the test calls the next function in `answers`. Discarding fails. */
  const openThread: OpenThread = ({ receive }) => ({
    post(message) {
      const { command } = message as DiskRequest;
      if (command === 'openRoot') return void receive({ value: { descriptor: openSync(parent, 'r'), path: parent } });
      const value = lateResults[command];
      if (value !== undefined) return void answers.push(() => receive({ value }));
      setImmediate(() => {
        receive({ error: { kind: 'StorageUnavailable', message: 'the disk returned EIO' } });
        discardCommands.push(command);
      });
    },
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  const folders = new OpenFolders(4, { openThread, responseTimeout: 20_000 });
  atEnd(t, () => folders[Symbol.asyncDispose]());
  const writingRules = { floor: { device: 0, bytes: 0 }, modeAndGroup: inheritedModeAndGroup };
  const storage = localStorage(folders, { folder: { tid: 1, path: parent, mountPoint: false }, writingRules });
  const target = { parent: parsePath(''), name: 'uploaded', size: null, ifTaken: 'refuse' } as const;
  const requests = [
    () => storage.open(parsePath('file')),
    () => startUpload(storage, '', 'uploaded'),
    () => storage.continueUpload?.(target, { token: 'token', offset: 0, handle: null }),
  ];
  for (const [index, request] of requests.entries()) {
    const rejection = assert.rejects(async () => request(), StorageUnavailable);
    await until(() => answers.length > index);
    now += 21_000;
    t.mock.timers.tick(1000);
    await rejection;
    answers[index]?.();
    await until(() => discardCommands.length > index); // an unhandled rejection fails the test
  }
  assert.deepEqual(discardCommands, ['close', 'discardUpload', 'closeUpload']);
});

test('the number of open folders is limited, and many locations of one tenant do not close the folder of another tenant', async (t) => {
  const [folders, parent] = [new OpenFolders(4), await temporaryFolder(t)];
  atEnd(t, () => folders[Symbol.asyncDispose]());
  const writing = { floor: { device: 0, bytes: 0 }, modeAndGroup: inheritedModeAndGroup };
  const open = (tid: number, name: string) => {
    const folder = { tid, path: join(parent, name), mountPoint: false };
    mkdirSync(folder.path);
    writeFileSync(join(folder.path, 'file'), 'its text');
    return localStorage(folders, { folder, writingRules: writing });
  };
  const others = open(1, 'other');
  await others.stat(parsePath('file'));
  const first = open(2, 'first');
  const upload = await startUpload(first, '', 'uploaded');
  const listing = await first.list(parsePath(''));
  const before = { descriptors: descriptors(), threads: threads() };
  for (let number = 0; number < 12; number += 1) assert.equal(await readText(open(2, `folder-${number}`), 'file'), 'its text');
  await until(() => threads() <= before.threads + 4);
  assert.ok(descriptors() <= before.descriptors + 4 * 6, `${descriptors()} descriptors after ${before.descriptors}`);

  await upload.write(Buffer.from('uploaded'));
  await upload.place();
  await upload.discard();
  const names = [];
  for await (const batch of listing ?? []) names.push(...batch.map(({ name }) => name));
  assert.ok(names.includes('file'));
  assert.equal(await readText(first, 'uploaded'), 'uploaded');
  const threadsThen = threads();
  assert.ok(await others.stat(parsePath('file')));
  assert.equal(threads(), threadsThen); // the thread of the other tenant's location still runs
});

test('a file that is being read stays readable if too many other folders are opened, and its folder is closed after the file', async (t) => {
  const [folders, parent] = [new OpenFolders(2), await temporaryFolder(t)];
  atEnd(t, () => folders[Symbol.asyncDispose]());
  const content = randomBytes(5 << 20);
  const open = (name: string) => {
    const folder = { tid: 1, path: join(parent, name), mountPoint: false };
    mkdirSync(folder.path);
    writeFileSync(join(folder.path, 'file'), content);
    return localStorage(folders, { folder, writingRules: { floor: { device: 0, bytes: 0 }, modeAndGroup: inheritedModeAndGroup } });
  };
  const file = await open('first').open(parsePath('file'));
  const pieces: Buffer[] = [];
  for await (const piece of file?.read({ start: 0, end: content.length - 1 }) ?? []) {
    pieces.push(Buffer.from(piece));
    await open(`other-${pieces.length}`).stat(parsePath('file'));
  }
  await file?.close();
  assert.ok(Buffer.concat(pieces).equals(content));
  const before = threads();
  await open('last').stat(parsePath('file'));
  await until(() => threads() <= before); // the closed folder keeps no thread
});

test('if a disk is lost while folders are being closed, a running read fails, and the folders are closed', async (t) => {
  const [folders, parent] = [new OpenFolders(), await temporaryFolder(t)];
  const folder = { tid: 1, path: parent, mountPoint: false };
  const diskLoss = Promise.withResolvers<never>();
  const readStart = Promise.withResolvers<void>();
  const reading = folders.use(folder, () => {
    readStart.resolve();
    return diskLoss.promise;
  });
  await readStart.promise;
  const closing = folders[Symbol.asyncDispose]();
  diskLoss.reject(new RootGone('the disk was taken out'));
  await assert.rejects(reading, StorageUnavailable);
  await closing;
});

test('the thread that reads a location ends after one minute without requests', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { open, newFolder } = await storagesOf(t);
  const storage = await open(1, JSON.stringify({ folder: newFolder('one') }));
  const before = threads();
  await storage.stat(parsePath('file'));
  assert.equal(threads(), before + 1);
  t.mock.timers.tick(60_000);
  await until(() => threads() === before);
  assert.ok(await storage.stat(parsePath('file')));
});
