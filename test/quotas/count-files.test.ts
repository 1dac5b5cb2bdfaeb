import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { type CountableStorage, countFiles, TooManyFiles } from '#features/quotas/count-files.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';

const entryOf = (name: string, folder: boolean, size = 0): Entry => ({ name, folder, size, modified: 0, etag: '' });

/** Returns a storage in which each folder has the entries that `entriesOf` returns for its depth. */
const storageWith = (entriesOf: (depth: number) => readonly Entry[]): CountableStorage => ({
  stat: async () => entryOf('root', true),
  list: async (path) =>
    (async function* () {
      yield entriesOf(path.length);
    })(),
});

test('files are counted in all subfolders, and folders are not', async () => {
  const storage = storageWith((depth) => [entryOf('a.txt', false, 10), ...(depth < 3 ? [entryOf('x', true), entryOf('y', true)] : [])]);
  assert.deepEqual(await countFiles(storage, rootPath), { bytes: 150, files: 15 });
});

test('the count ends even if a storage nests folders without end', async () => {
  assert.deepEqual(
    await countFiles(
      storageWith(() => [entryOf('a.txt', false, 1), entryOf('again', true)]),
      rootPath,
    ),
    { bytes: 256, files: 256 },
  );
});

test('a folder whose name is not allowed in a path is skipped', async () => {
  assert.deepEqual(
    await countFiles(
      storageWith((depth) => (depth === 0 ? [entryOf('..', true), entryOf('a/b', true)] : [])),
      rootPath,
    ),
    { bytes: 0, files: 0 },
  );
});

test('the count fails if there are more entries than its caller allows', async () => {
  const many = Array.from({ length: 11 }, (_, index) => entryOf(`${index}`, false));
  await assert.rejects(
    countFiles(
      storageWith(() => many),
      rootPath,
      { maxEntries: 10 },
    ),
    TooManyFiles,
  );
});

test('a listing that arrives after the count has ended is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const listed = Promise.withResolvers<AsyncIterable<readonly Entry[]>>();
  const isClosed = Promise.withResolvers<void>();
  const count = countFiles({ stat: async () => null, list: () => listed.promise }, rootPath);
  t.mock.timers.tick(60_000);
  await assert.rejects(count, StorageUnavailable);
  async function* lateList() {
    try {
      yield [];
    } finally {
      isClosed.resolve();
    }
  }
  listed.resolve(lateList());
  await isClosed.promise;
});
