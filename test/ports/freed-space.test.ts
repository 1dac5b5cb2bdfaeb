// The kernel takes tenths of a second to free the space of a large file: a thread waits for it, and not the event loop.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { path, put, remove } from './storage.contract.ts';

/** Do we hold the file open? */
const isOpen = (file: string) =>
  fs.readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false; // closed meanwhile
    }
  });

test('the removal of a folder lets others have their turn after each file', async (t) => {
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

test('a large file that is replaced stays open, so that its space is freed apart', async (t) => {
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
