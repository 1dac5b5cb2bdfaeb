// The kernel needs tenths of a second to free the space of a large file. A thread waits for it, not the event loop.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeEntry } from '../../src/adapters/storage/disk/remove-entry.ts';
import { siblingName } from '../../src/adapters/storage/disk/staging-area.ts';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { path, put, remove } from './storage.contract.ts';

/** Does this process hold the file open? */
const isOpen = (file: string) =>
  fs.readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false; // closed meanwhile
    }
  });

test('the removal of a folder does not delete its files synchronously', async (t) => {
  const root = await temporaryFolder(t);
  fs.mkdirSync(join(root, 'files'));
  const files = Array.from({ length: 50 }, (_, number) => `${number}`);
  for (const name of files) fs.writeFileSync(join(root, 'files', name), name);
  const storage = localDisk(t, root);
  const unlinked = t.mock.method(fs, 'unlinkSync');
  await remove(storage, path('/'), 'files');
  assert.ok(!fs.existsSync(join(root, 'files')));
  const names = unlinked.mock.calls.map(({ arguments: [name] }) => String(name));
  assert.ok(!names.some((name) => files.includes(name.slice(name.lastIndexOf('/') + 1))), 'no file is waited for');
});

test('a large file is held open while it is replaced, so that its space is freed later', async (t) => {
  const root = await temporaryFolder(t);
  const file = join(root, 'large');
  fs.writeFileSync(file, '');
  fs.truncateSync(file, 32 << 20);
  const storage = localDisk(t, root);
  const found = await storage.stat(path('/large'));
  const open: boolean[] = [];
  const { renameSync } = fs;
  t.mock.method(fs, 'renameSync', (from: fs.PathLike, to: fs.PathLike) => {
    if (String(to).endsWith('/large')) open.push(isOpen(file));
    renameSync(from, to);
  });
  await put(storage, '/', 'large', 'small', found?.etag);
  assert.deepEqual(open, [true]);
  assert.equal(fs.readFileSync(file, 'utf8'), 'small');
});

test('a large staging file that a crash left is held open while recovery deletes it', async (t) => {
  const root = await temporaryFolder(t);
  const token = 'left-after';
  const file = join(root, '.postern', token);
  const storage = localDisk(t, root);
  fs.mkdirSync(join(root, '.postern'), { mode: 0o700 });
  fs.writeFileSync(file, '');
  fs.truncateSync(file, 32 << 20);
  const open: boolean[] = [];
  const { unlinkSync } = fs;
  t.mock.method(fs, 'unlinkSync', (name: fs.PathLike) => {
    if (String(name).endsWith(token)) open.push(isOpen(file));
    unlinkSync(name);
  });
  await storage.clearEvidence({ action: 'upload', parent: path('/'), name: 'large', newName: '', token });
  assert.deepEqual([open, fs.existsSync(file)], [[true], false]);
});

test('the recovery of an upload and the removal of an entry do not list the folder', async (t) => {
  const root = await temporaryFolder(t);
  for (let number = 0; number < 50; number += 1) fs.writeFileSync(join(root, `${number}`), '');
  const storage = localDisk(t, root);
  const read = t.mock.method(fs.promises, 'readdir');
  assert.equal(await storage.recover({ action: 'upload', parent: path('/'), name: 'a', newName: '', token: 'unknown' }), null);
  const folder = fs.openSync(root, 'r');
  t.after(() => fs.closeSync(folder));
  await removeEntry({ entry: { folder, name: '7' }, evidence: { folder, name: siblingName('t') }, token: 't' });
  assert.ok(!fs.existsSync(join(root, '7')));
  assert.equal(read.mock.callCount(), 0);
});

test('an entry of the staging area that cannot be deleted does not prevent the deletion of others', async (t) => {
  const root = await temporaryFolder(t);
  const trash = join(root, '.postern');
  fs.mkdirSync(trash, { mode: 0o700 });
  for (const name of ['a', 'b', 'c']) fs.mkdirSync(join(trash, name));
  const storage = localDisk(t, root);
  const { rmdirSync } = fs;
  t.mock.method(fs, 'rmdirSync', (name: fs.PathLike) => {
    if (String(name).endsWith('/b')) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    rmdirSync(name);
  });
  await storage.sweep(async () => []);
  assert.deepEqual(fs.readdirSync(trash), ['b']);
});
