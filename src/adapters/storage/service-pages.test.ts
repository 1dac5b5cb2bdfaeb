import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { parseStoredPath, rootPath } from '#core/item-path.ts';
import type { ListingQuery } from '#core/listing.ts';
import type { ContinuedUpload } from '#ports/storage.ts';
import { StorageBusy } from '#ports/storage-errors.ts';
import { FolderListCache } from './folder-list-cache.ts';
import { ServicePages } from './service-pages.ts';

const firstPage: ListingQuery = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 10 };
const furtherPage = { ...firstPage, startIndex: 10 };
const entryOf = (number: number) => ({ name: `${1000 + number}`, folder: false, size: number, modified: 1, etag: '"1"' });

/** Opens the pages of a fake service that lists 30 files in two batches. `lists` counts the lists that it has returned. */
function startPages(memory = storageMemory()) {
  const state = { now: 0, lists: 0 };
  const pages = new ServicePages({ memory: memory.of(1), lists: new FolderListCache(() => state.now) });
  async function* batches() {
    yield Array.from({ length: 15 }, (_, number) => entryOf(29 - number));
    yield Array.from({ length: 15 }, (_, number) => entryOf(number));
  }
  const read = (query: ListingQuery, path = rootPath) =>
    pages.read(path, query, async () => {
      state.lists += 1;
      return batches();
    });
  const namesOf = async (query: ListingQuery) => (await read(query))?.entries.map(({ name }) => name);
  return { state, pages, read, namesOf };
}

test('a further page of a folder at a service comes from the list that was read for the first page', async () => {
  const { state, read } = startPages();
  await read(firstPage);
  const page = await read(furtherPage);
  assert.deepEqual(
    page?.entries,
    Array.from({ length: 10 }, (_, index) => entryOf(10 + index)),
  );
  assert.deepEqual([page?.total, state.lists], [30, 1]);
});

test('a further page needs a new list after half a minute, and for another folder, order or search word', async () => {
  const { state, read } = startPages();
  await read(firstPage);
  await read(furtherPage, parseStoredPath('/a') ?? rootPath);
  await read({ ...furtherPage, order: 'desc' });
  await read({ ...furtherPage, searchWord: '1' });
  assert.equal(state.lists, 4);
  state.now = 30_000;
  await read(furtherPage);
  assert.equal(state.lists, 5);
});

test('the first page of a folder shows what the service has now', async () => {
  const { state, read } = startPages();
  await read(firstPage);
  await read(firstPage);
  assert.equal(state.lists, 2);
});

test('a further page needs a new list after a change in the location, even one that failed', async () => {
  const { state, pages, read } = startPages();
  const upload: ContinuedUpload = Object.assign(Object.create(null), { place: async () => 'a' });
  const changes = [
    () => pages.clearAfter(Promise.resolve()),
    () => pages.clearAfter(Promise.reject(new Error('the connection broke'))).catch(() => {}),
    async () => (await pages.watchUpload(Promise.resolve(upload))).place(),
    async () => (await pages.watchContinued(Promise.resolve(upload))).place(),
  ];
  for (const [index, change] of changes.entries()) {
    await read(firstPage);
    const { lists } = state;
    await change();
    await read(furtherPage);
    assert.equal(state.lists, lists + 1, `change ${index}`);
  }
});

test('a list that was being read during a change is not used for further pages', async () => {
  const { state, pages, read } = startPages();
  const reading = read(firstPage);
  await pages.clearAfter(Promise.resolve());
  await reading;
  await read(furtherPage);
  assert.equal(state.lists, 2);
});

test('without memory for all entries of a folder, its pages are still correct, and each page needs a new list', async () => {
  const { state, namesOf } = startPages(storageMemory(10_000)); // a tenant may take half of these bytes: enough for 23 entries
  assert.deepEqual(
    await namesOf(firstPage),
    Array.from({ length: 10 }, (_, index) => `${1000 + index}`),
  );
  assert.deepEqual(await namesOf({ ...furtherPage, pageSize: 2 }), ['1010', '1011']);
  assert.equal(state.lists, 2);
});

test('a page of a folder takes memory until its entries are no longer needed', async () => {
  const { read } = startPages(storageMemory(10_000));
  const page = await read(firstPage);
  await read(firstPage);
  await assert.rejects(read(firstPage), StorageBusy);
  page?.memory?.[Symbol.dispose]();
  assert.equal((await read(firstPage))?.entries.length, 10);
});
