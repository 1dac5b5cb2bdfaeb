import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ItemChanged, StorageFull } from '#ports/storage-errors.ts';
import { inlineThreads } from '../parts/inline-threads.ts';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { newToken, parsePath } from './storage.contract.ts';

test('a file that another program changes during every read is reported as changed, and the disk as available', async (t) => {
  const root = await temporaryFolder(t);
  const file = join(root, 'log.txt');
  fs.writeFileSync(file, 'first line\n');
  const storage = localDisk(t, root, inlineThreads);
  const { fstatSync } = fs;
  const fstat = t.mock.method(fs, 'fstatSync', (descriptor: number, options: fs.StatOptions & { bigint: true }) => {
    fs.appendFileSync(file, 'another line\n');
    return fstatSync(descriptor, options);
  });
  await assert.rejects(storage.open(parsePath('log.txt')), ItemChanged);
  fstat.mock.restore();
  assert.ok(await storage.open(parsePath('log.txt')));
});

test('if a folder cannot be renamed because the disk is full, the error says so, even if another program writes to the new folder', async (t) => {
  const root = await temporaryFolder(t);
  fs.mkdirSync(join(root, 'old'));
  const storage = localDisk(t, root, inlineThreads);
  t.mock.method(fs, 'renameSync', () => {
    fs.writeFileSync(join(root, 'new', 'file.txt'), '');
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  await assert.rejects(storage.rename(parsePath('/'), 'old', 'new', { token: newToken(), pendingTokens: [] }), StorageFull);
  assert.deepEqual(fs.readdirSync(join(root, 'new')), ['file.txt']);
});
