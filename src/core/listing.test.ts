import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Entry, type ListingQuery, PageTooDeep, pageOf } from './listing.ts';

const file = (name: string, size = 0, modified = 0): Entry => ({ name, folder: false, size, modified, etag: '"1"' });
const folder = (name: string, modified = 0): Entry => ({ ...file(name, 0, modified), folder: true });
const whole: ListingQuery = { sort: 'name', order: 'asc', word: null, startIndex: 0, pageSize: 1000 };
const names = (entries: readonly Entry[], over: Partial<ListingQuery> = {}) =>
  pageOf(entries, { ...whole, ...over }).entries.map(({ name }) => name);

const some = [file('b.txt', 3, 10), folder('Z', 5), file('A.txt', 3, 30), folder('a', 9), file('c.txt', 1, 20)];

test('folders come first, whatever the order', () => {
  assert.deepEqual(names(some), ['a', 'Z', 'A.txt', 'b.txt', 'c.txt']);
  assert.deepEqual(names(some, { order: 'desc' }), ['Z', 'a', 'c.txt', 'b.txt', 'A.txt']);
  assert.deepEqual(names(some, { sort: 'size', order: 'desc' }).slice(0, 2).sort(), ['Z', 'a']);
});

test('a folder is sorted by size or by time, ties by name', () => {
  assert.deepEqual(names(some, { sort: 'size' }), ['a', 'Z', 'c.txt', 'A.txt', 'b.txt']);
  assert.deepEqual(names(some, { sort: 'modifiedDateTime' }), ['Z', 'a', 'b.txt', 'c.txt', 'A.txt']);
  assert.deepEqual(names(some, { sort: 'modifiedDateTime', order: 'desc' }), ['a', 'Z', 'A.txt', 'c.txt', 'b.txt']);
});

test('a search finds a part of the name without regard to case or to how an accent is written', () => {
  assert.deepEqual(names(some, { word: 'TXT' }), ['A.txt', 'b.txt', 'c.txt']);
  assert.deepEqual(names([file('Re\u0301sume\u0301'), file('resume')], { word: 'RÉSUMÉ' }), ['Re\u0301sume\u0301']);
  assert.deepEqual(names(some, { word: '.*' }), []);
});

test('a page says how many entries there are in all', () => {
  const { entries, total } = pageOf(some, { ...whole, word: 'txt', startIndex: 1, pageSize: 1 });
  assert.deepEqual([entries.map(({ name }) => name), total], [['b.txt'], 3]);
  assert.deepEqual(pageOf(some, { ...whole, startIndex: 99 }), { entries: [], total: 5 });
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
  word: fc.option(fc.constantFrom('a', 'É', ''), { nil: null }),
});

test('paging through a folder shows every entry once, in the order of the whole', () =>
  fc.assert(
    fc.property(anyEntries, anyQuery, fc.integer({ min: 1, max: 5 }), (entries, query, pageSize) => {
      const all = names(entries, query);
      const paged: string[] = [];
      for (let startIndex = 0; startIndex < all.length; startIndex += pageSize)
        paged.push(...names(entries, { ...query, startIndex, pageSize }));
      assert.deepEqual(paged, all);
    }),
  ));

test('the order that a storage lists in makes no difference', () =>
  fc.assert(
    fc.property(anyEntries, anyQuery, (entries, query) => assert.deepEqual(names(entries.toReversed(), query), names(entries, query))),
  ));

test('listing leaves what the storage gave as it was', () => {
  const given = Object.freeze([...some]);
  assert.deepEqual(names(given, { order: 'desc' }).length, 5);
  assert.deepEqual(given, some);
});

test('a page of a folder that does not fit into memory is the same page, or is refused as too deep', () => {
  let refused = 0;
  fc.assert(
    fc.property(anyEntries, anyQuery, fc.nat(8), fc.integer({ min: 1, max: 3 }), (entries, query, startIndex, pageSize) => {
      const wanted = { ...query, startIndex, pageSize };
      try {
        assert.deepEqual(pageOf(entries, wanted, 1200), pageOf(entries, wanted));
      } catch (cause) {
        refused += 1;
        assert.ok(cause instanceof PageTooDeep);
        assert.ok(startIndex + pageSize > 3);
      }
    }),
  );
  assert.ok(refused > 0);
});
