import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStoredPath, rootPath } from '#core/item-path.ts';
import type { ListingQuery } from '#core/listing.ts';
import { FolderPages, PageCache } from './folder-pages.ts';
import type { PageRead } from './read-folder.ts';

const query: ListingQuery = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 10 };

/** Opens a fake folder. The test sets its version; `knownVersions` collects the version that `FolderPages` sends with each read. */
function startPages() {
  const state = { version: 'v1' as string | null, now: 0, knownVersions: [] as (string | null)[] };
  const run = async (_command: string, [, , knownVersion]: [unknown, unknown, string | null]): Promise<PageRead> => {
    state.knownVersions.push(knownVersion);
    if (knownVersion !== null && knownVersion === state.version) return { page: null, version: knownVersion };
    return { page: { entries: [], total: state.knownVersions.length }, version: state.version };
  };
  const now = () => state.now;
  const pages = new FolderPages({ pages: Object.assign(Object.create(null), { run }) }, new PageCache(), now);
  return { state, pages };
}

test('a page of an unchanged folder is reused for one second', async () => {
  const { state, pages } = startPages();
  const first = await pages.read(rootPath, query);
  state.now = 999;
  assert.equal(await pages.read(rootPath, query), first);
  state.now = 1001;
  assert.notEqual(await pages.read(rootPath, query), first);
  assert.deepEqual(state.knownVersions, [null, 'v1', null]);
});

test('a page is read again after its folder has changed, or after Postern has changed anything in the location', async () => {
  const { state, pages } = startPages();
  const first = await pages.read(rootPath, query);
  state.version = 'v2';
  const second = await pages.read(rootPath, query);
  assert.notEqual(second, first);
  pages.clear();
  assert.notEqual(await pages.read(rootPath, query), second);
});

test('a page is not used for another query or folder, or if its folder changed within the last second', async () => {
  const { state, pages } = startPages();
  await pages.read(rootPath, query);
  await pages.read(rootPath, { ...query, searchWord: 'a' });
  await pages.read(parseStoredPath('/a') ?? rootPath, query);
  state.version = null;
  await pages.read(rootPath, { ...query, startIndex: 1 });
  await pages.read(rootPath, { ...query, startIndex: 1 });
  assert.deepEqual(state.knownVersions, [null, null, null, null, null]);
});

test('a page that was being read during a change is not used again', async () => {
  const { state, pages } = startPages();
  const reading = pages.read(rootPath, query);
  pages.clear();
  await reading;
  await pages.read(rootPath, query);
  assert.deepEqual(state.knownVersions, [null, null]);
});
