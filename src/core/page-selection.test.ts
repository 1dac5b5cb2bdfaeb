import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry, ListingQuery } from './listing.ts';
import { finish, PageSelection, PageTooDeep, selectListingPage } from './page-selection.ts';

const file = (name: string, size = 0, modified = 0): Entry => ({ name, folder: false, size, modified, etag: '"1"' });
const folder = (name: string, modified = 0): Entry => ({ ...file(name, 0, modified), folder: true });
const firstPage: ListingQuery = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 1000 };
const names = (entries: readonly Entry[], over: Partial<ListingQuery> = {}) =>
  selectListingPage(entries, { ...firstPage, ...over }).entries.map(({ name }) => name);

const samples = [file('b.txt', 3, 10), folder('Z', 5), file('A.txt', 3, 30), folder('a', 9), file('c.txt', 1, 20)];

test('folders come first in every order', () => {
  assert.deepEqual(names(samples), ['a', 'Z', 'A.txt', 'b.txt', 'c.txt']);
  assert.deepEqual(names(samples, { order: 'desc' }), ['Z', 'a', 'c.txt', 'b.txt', 'A.txt']);
  assert.deepEqual(names(samples, { sort: 'size', order: 'desc' }).slice(0, 2).sort(), ['Z', 'a']);
});

test('the entries of a folder are sorted by size or by time, and equal entries by name', () => {
  assert.deepEqual(names(samples, { sort: 'size' }), ['a', 'Z', 'c.txt', 'A.txt', 'b.txt']);
  assert.deepEqual(names(samples, { sort: 'modifiedDateTime' }), ['Z', 'a', 'b.txt', 'c.txt', 'A.txt']);
  assert.deepEqual(names(samples, { sort: 'modifiedDateTime', order: 'desc' }), ['a', 'Z', 'A.txt', 'c.txt', 'b.txt']);
});

test('a search finds a part of the name in any case and in any Unicode form of an accent', () => {
  assert.deepEqual(names(samples, { searchWord: 'TXT' }), ['A.txt', 'b.txt', 'c.txt']);
  assert.deepEqual(names([file('Re\u0301sume\u0301'), file('resume')], { searchWord: 'RÉSUMÉ' }), ['Re\u0301sume\u0301']);
  assert.deepEqual(names(samples, { searchWord: '.*' }), []);
});

test('a page includes the total number of matching entries', () => {
  const { entries, total } = selectListingPage(samples, { ...firstPage, searchWord: 'txt', startIndex: 1, pageSize: 1 });
  assert.deepEqual([entries.map(({ name }) => name), total], [['b.txt'], 3]);
  assert.deepEqual(selectListingPage(samples, { ...firstPage, startIndex: 99 }), { entries: [], total: 5 });
});

const anyEntries = fc.uniqueArray(
  fc.record({
    name: fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'é', '1'), minLength: 1, maxLength: 4 }),
    folder: fc.boolean(),
    size: fc.nat(2),
    modified: fc.nat(2),
    etag: fc.constant('"1"'),
  }),
  { selector: ({ name }) => name },
);
const anyQuery = fc.record({
  sort: fc.constantFrom('name' as const, 'size' as const, 'modifiedDateTime' as const),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  searchWord: fc.option(fc.constantFrom('a', 'É', ''), { nil: null }),
});

test('the pages of a folder show every entry once, in the same order as one page of all entries', () =>
  fc.assert(
    fc.property(anyEntries, anyQuery, fc.integer({ min: 1, max: 5 }), (entries, query, pageSize) => {
      const all = names(entries, query);
      const paged: string[] = [];
      for (let startIndex = 0; startIndex < all.length; startIndex += pageSize)
        paged.push(...names(entries, { ...query, startIndex, pageSize }));
      assert.deepEqual(paged, all);
    }),
  ));

test('the order in which a storage lists entries has no effect', () =>
  fc.assert(
    fc.property(anyEntries, anyQuery, (entries, query) => assert.deepEqual(names(entries.toReversed(), query), names(entries, query))),
  ));

test('listing does not change the array of the storage', () => {
  const entries = Object.freeze([...samples]);
  assert.deepEqual(names(entries, { order: 'desc' }).length, 5);
  assert.deepEqual(entries, samples);
});

test('the ETags of entries count as memory', () => {
  const entries = Array.from({ length: 10 }, (_, number) => ({ ...file(`${number}`), etag: `"${'e'.repeat(254)}"` }));
  const page = (maxBytes: number) => selectListingPage(entries, firstPage, maxBytes).total;
  assert.throws(() => page(5000), PageTooDeep);
  assert.equal(page(10_000), 10);
});

test('with a memory limit, a listing returns the same page as without one, or fails with PageTooDeep', () => {
  let refused = 0;
  fc.assert(
    fc.property(anyEntries, anyQuery, fc.nat(8), fc.integer({ min: 1, max: 3 }), (entries, query, startIndex, pageSize) => {
      const pageQuery = { ...query, startIndex, pageSize };
      try {
        assert.deepEqual(selectListingPage(entries, pageQuery, 1200), selectListingPage(entries, pageQuery));
      } catch (cause) {
        refused += 1;
        assert.ok(cause instanceof PageTooDeep);
        assert.ok(startIndex + pageSize > 3);
      }
    }),
  );
  assert.ok(refused > 0);
});

test('the first page of a folder with 100,000 files is selected without keeping all of them', () => {
  const selection = new PageSelection<Entry>(firstPage);
  let mostBytes = 0;
  for (let count = 0; count < 100; count += 1) {
    finish(selection.add(Array.from({ length: 1000 }, (_, index) => file(`${((count * 1000 + index) * 7919) % 100_003}`))));
    mostBytes = Math.max(mostBytes, selection.bytes);
  }
  const { entries, total } = finish(selection.page());
  assert.equal(total, 100_000);
  assert.deepEqual([entries.length, entries[0]?.name, entries[1]?.name], [1000, '0', '1']);
  assert.ok(mostBytes < 3_000_000, `${mostBytes} bytes`);
});

test('every page of a folder with 30,000 files is a part of the same sorted list, in whatever batches a storage lists the files', () => {
  const entries = Array.from({ length: 30_000 }, (_, index) => file(`${100_000 + ((index * 7919) % 30_000)}`));
  for (const batchLength of [37, 700, 30_000])
    for (const startIndex of [0, 12_345, 29_500]) {
      const selection = new PageSelection<Entry>({ ...firstPage, startIndex }, { keepsAll: true });
      for (let start = 0; start < entries.length; start += batchLength) finish(selection.add(entries.slice(start, start + batchLength)));
      const { entries: page, all } = finish(selection.page());
      assert.deepEqual([page.length, page[0]?.name], [Math.min(1000, 30_000 - startIndex), `${100_000 + startIndex}`]);
      assert.deepEqual([all?.length, all?.[12_345]?.name, all?.at(-1)?.name], [30_000, '112345', '129999']);
      assert.deepEqual(selectListingPage(entries, { ...firstPage, startIndex }).entries, page);
    }
});

test('sorting the entries of a large folder pauses at the latest after every few thousand comparisons', () => {
  const selection = new PageSelection<Entry>({ ...firstPage, startIndex: 90_000 }, { keepsAll: true });
  let pauses = 0;
  for (let batch = 0; batch < 100; batch += 1)
    for (const _ of selection.add(Array.from({ length: 1000 }, (_, index) => file(`${((batch * 1000 + index) * 7919) % 100_003}`))))
      pauses += 1;
  for (const _ of selection.page()) pauses += 1;
  assert.ok(pauses > 150, `${pauses} pauses`);
});
