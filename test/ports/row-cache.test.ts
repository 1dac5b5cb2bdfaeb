import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowCache } from '#adapters/store/sqlite/row-cache.ts';

/** Makes a query that returns the given rows and counts its calls. */
function asking(rows: unknown[]) {
  let times = 0;
  const ask = () => {
    times += 1;
    return rows;
  };
  return { ask, times: () => times };
}

test('a row is queried once until one of its tables changes', () => {
  const kept = rowCache();
  const { ask, times } = asking([{ id: 1 }]);
  const rows = () => kept.rows('one', ['location', 'tenant'], [1, 'a'], ask);
  assert.deepEqual([rows(), rows(), times()], [[{ id: 1 }], [{ id: 1 }], 1]);
  assert.ok(Object.isFrozen(rows()[0]), 'all who ask share it');
  kept.invalidate(['share', 'login_profile']);
  rows();
  assert.equal(times(), 1);
  kept.invalidate(['share', 'tenant']);
  rows();
  assert.equal(times(), 2);
});

test('queries with similar parameters never share a cache entry', () => {
  const kept = rowCache();
  const values = [[1], ['1'], [null], ['null'], ['a","b', 'c'], ['a', 'b","c'], ['a', '"b'], [Number.NaN], [1n], [new Uint8Array(1)]];
  for (const [index, value] of values.entries()) kept.rows('one', ['tenant'], value, () => [{ index }]);
  for (const [index, value] of values.entries())
    assert.deepEqual(
      kept.rows('one', ['tenant'], value, () => [{ index }]),
      [{ index }],
    );
});

test('statements that read tables with frequent changes are not cached, and lists are not cached', () => {
  const kept = rowCache();
  assert.deepEqual(
    [['tenant'], ['tenant', 'share'], []].map((tables) => kept.canCache(tables)),
    [true, false, false],
  );
  const { ask, times } = asking([{ id: 1 }, { id: 2 }]);
  for (let time = 0; time < 3; time += 1) kept.rows('list', ['tenant'], [], ask);
  assert.equal(times(), 3);
});

test('a long row is not cached, because hundreds of them would fill the memory', () => {
  const kept = rowCache();
  const { ask, times } = asking([{ id: 1, ip_range: '10.0.0.0/8 '.repeat(6000) }]);
  for (let time = 0; time < 3; time += 1) kept.rows('one', ['login_profile'], [1], ask);
  assert.equal(times(), 3);
});

test('the number of cached rows is limited, and later rows are cached in place of earlier ones', () => {
  const kept = rowCache();
  const { ask, times } = asking([]);
  for (const round of [1, 2]) for (let id = 0; id < 5000; id += 1) kept.rows(`statement ${id % 7}`, ['api_key'], [`${round} ${id}`], ask);
  assert.equal(times(), 10_000);
  for (let id = 4900; id < 5000; id += 1) kept.rows(`statement ${id % 7}`, ['api_key'], [`2 ${id}`], ask);
  assert.equal(times(), 10_000, 'the last are');
  for (let id = 0; id < 4000; id += 1) kept.rows(`statement ${id % 7}`, ['api_key'], [`2 ${id}`], ask);
  assert.equal(times(), 14_000, 'the first are not');
  kept.invalidate(['api_key']);
  const full = () => Array.from({ length: 500 }, (_, id) => kept.rows('again', ['tenant'], [id], ask)).length;
  full();
  const before = times();
  full();
  assert.equal(times(), before, 'what was forgotten leaves room');
});
