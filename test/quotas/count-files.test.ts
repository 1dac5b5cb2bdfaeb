import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { type CountableStorage, countFiles } from '#features/quotas/count-files.ts';
import { TooManyFiles } from '#features/quotas/uncounted-folders.ts';
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
  const pendingList = Promise.withResolvers<AsyncIterable<readonly Entry[]>>();
  const isClosed = Promise.withResolvers<void>();
  const count = countFiles({ stat: async () => null, list: () => pendingList.promise }, rootPath);
  t.mock.timers.tick(60_000);
  await assert.rejects(count, StorageUnavailable);
  async function* lateList() {
    try {
      yield [];
    } finally {
      isClosed.resolve();
    }
  }
  pendingList.resolve(lateList());
  await isClosed.promise;
});

/** Returns a storage whose root lists folders with names of this length. Listing one of them waits until the test makes it fail. */
function storageWithSubfolders(folders: number, nameLength: number) {
  const isListed = Promise.withResolvers<void>();
  const failure = Promise.withResolvers<never>();
  async function* list() {
    const batch = 1000;
    for (let first = 0; first < folders; first += batch)
      yield Array.from({ length: batch }, (_, index) => entryOf(`${first + index}`.padStart(nameLength, 'x'), true));
  }
  const storage: CountableStorage = {
    stat: async () => entryOf('root', true),
    list: async (path) => {
      if (path.length === 0) return list();
      isListed.resolve();
      return failure.promise;
    },
  };
  return { storage, isListed: isListed.promise, fail: () => failure.reject(new StorageUnavailable('the test ends')) };
}

/** Begins to count a folder with many subfolders. The count waits when it has the names of all of them. */
async function holdCount(folders: number, nameLength: number, memory = { usedBytes: 0 }) {
  const { storage, isListed, fail } = storageWithSubfolders(folders, nameLength);
  const count = countFiles(storage, rootPath, { memory });
  await Promise.race([count, isListed]);
  return async () => {
    fail();
    await assert.rejects(count, StorageUnavailable);
  };
}

test('a count can hold the names of half a million subfolders in memory if the names have a usual length', async () => {
  const end = await holdCount(500_000, 20);
  await end();
});

test('a count fails rather than keep a hundred megabytes of names in memory', async () => {
  await assert.rejects(holdCount(500_000, 255), TooManyFiles);
});

test('counts that run at the same time share the memory for names, and each leaves some of it to others', async () => {
  const memory = { usedBytes: 0 };
  const end = await holdCount(60_000, 255, memory);
  await assert.rejects(holdCount(60_000, 255, memory), TooManyFiles);
  const endSmall = await holdCount(10_000, 255, memory);
  await Promise.all([end(), endSmall()]);
  assert.deepEqual(memory, { usedBytes: 0 });
});
