import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ItemExists, StorageUnavailable } from '#ports/storage-errors.ts';
import { remainingEvidence } from '../../src/adapters/storage/disk/evidence.ts';
import { openRoot } from '../../src/adapters/storage/disk/open-within-root.ts';
import { removeEntry } from '../../src/adapters/storage/disk/remove-entry.ts';
import { siblingName } from '../../src/adapters/storage/disk/staging-area.ts';
import { inlineThreads } from '../parts/inline-threads.ts';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { parsePath, putFile, startUpload } from './storage.contract.ts';

test('the recovery of an upload and the removal of an entry do not list the folder', async (t) => {
  const root = await temporaryFolder(t);
  for (let number = 0; number < 50; number += 1) fs.writeFileSync(join(root, `${number}`), '');
  const storage = localDisk(t, root, inlineThreads);
  const readdir = t.mock.method(fs, 'readdirSync');
  assert.equal(await storage.recover({ action: 'upload', parent: parsePath('/'), name: 'a', newName: '', token: 'unknown' }), null);
  const folder = fs.openSync(root, 'r');
  t.after(() => fs.closeSync(folder));
  removeEntry({ entry: { folder, name: '7' }, evidence: { folder, name: siblingName('t') }, token: 't' }, null);
  assert.ok(!fs.existsSync(join(root, '7')));
  assert.equal(readdir.mock.callCount(), 0);
});

test('an entry of the staging area that cannot be deleted does not prevent the deletion of others', async (t) => {
  const root = await temporaryFolder(t);
  const staging = join(root, '.postern');
  fs.mkdirSync(staging, { mode: 0o700 });
  for (const name of ['a', 'b', 'c']) fs.mkdirSync(join(staging, name));
  const storage = localDisk(t, root, inlineThreads);
  const { rmdirSync } = fs;
  t.mock.method(fs, 'rmdirSync', (name: fs.PathLike) => {
    if (String(name).endsWith('/b')) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    rmdirSync(name);
  });
  await storage.sweep(async () => []);
  assert.deepEqual(fs.readdirSync(staging), ['b']);
});

test('a sweep deletes at most a thousand entries of the staging area, and later sweeps delete the rest, except entries of pending changes', async (t) => {
  const root = await temporaryFolder(t);
  const staging = join(root, '.postern');
  fs.mkdirSync(staging, { mode: 0o700 });
  const pending = Array.from({ length: 1000 }, (_, number) => `pending-${number}`);
  for (const name of pending) fs.writeFileSync(join(staging, name), '');
  for (let number = 0; number < 1500; number += 1) fs.writeFileSync(join(staging, `old-${number}`), '');
  const storage = localDisk(t, root, inlineThreads);
  await storage.sweep(async () => ['pending']);
  assert.ok(fs.readdirSync(staging).length >= 1500);
  for (let sweep = 0; sweep < 100 && fs.readdirSync(staging).length > 1000; sweep += 1) await storage.sweep(async () => ['pending']);
  assert.deepEqual(fs.readdirSync(staging).sort(), pending.sort());
});

test('a folder with thousands of files and folders is deleted completely, without a list of all entries at once', async (t) => {
  const root = await temporaryFolder(t);
  const staging = join(root, '.postern');
  fs.mkdirSync(join(staging, 'tree'), { recursive: true, mode: 0o700 });
  for (let number = 0; number < 10_100; number += 1) fs.writeFileSync(join(staging, 'tree', `${number}`), '');
  for (let number = 0; number < 50; number += 1) fs.mkdirSync(join(staging, 'tree', `f${number}`, 'sub'), { recursive: true });
  const storage = localDisk(t, root, inlineThreads);
  const readdir = t.mock.method(fs, 'readdirSync');
  await storage.sweep(async () => []);
  assert.equal(readdir.mock.callCount(), 0);
  assert.deepEqual(fs.readdirSync(staging), []);
});

const failWith = (code: string) => Object.assign(new Error(code), { code });

test('an upload that cannot be put in place reports why, even if the disk refuses to set file permissions', async (t) => {
  const root = await temporaryFolder(t);
  fs.writeFileSync(join(root, 'a'), '');
  const storage = localDisk(t, root, inlineThreads);
  const upload = await startUpload(storage, '', 'a');
  t.mock.method(fs, 'fchmodSync', () => {
    throw failWith('EPERM');
  });
  await assert.rejects(upload.place(), ItemExists);
  await upload.discard();
});

test('if the disk fails while a file is being replaced, the upload is refused because of the disk, not because of a changed file', async (t) => {
  const root = await temporaryFolder(t);
  const storage = localDisk(t, root, inlineThreads);
  await putFile(storage, '', 'a', 'text');
  const { etag = '' } = (await storage.stat(parsePath('a'))) ?? {};
  const upload = await startUpload(storage, '', 'a', { etag });
  const { lstatSync } = fs;
  const lstat = t.mock.method(fs, 'lstatSync', (path: fs.PathLike, options: fs.StatSyncOptions) => {
    if (String(path).endsWith('/a')) throw failWith('EIO');
    return lstatSync(path, options);
  });
  await assert.rejects(upload.place(), StorageUnavailable);
  lstat.mock.restore();
  await upload.discard();
});

test('a recovery that fails leaves no file descriptor open', async (t) => {
  const root = openRoot(await temporaryFolder(t));
  t.after(() => fs.closeSync(root.descriptor));
  fs.mkdirSync(join(root.path, 'folder'));
  t.mock.method(fs, 'readFileSync', () => {
    throw failWith('EIO');
  });
  const descriptors = () => fs.readdirSync('/proc/self/fd').length;
  const before = descriptors();
  assert.throws(() => remainingEvidence(root, parsePath('folder'), 'token'), { code: 'EIO' });
  assert.equal(descriptors(), before);
});
