import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { growthFactor } from '../../test/parts/growth.ts';
import { setAndEvict } from './bounded-map.ts';

test('a bounded map holds the newest entries, and never more than its limit', () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 })), fc.integer({ min: 1, max: 12 }), (keys, maxSize) => {
      const map = new Map<number, number>();
      for (const [index, key] of keys.entries()) {
        setAndEvict(map, key, index, maxSize);
        assert.ok(map.size <= maxSize);
        assert.equal(map.get(key), index);
      }
      const newestFirst = [...new Set(keys.toReversed())];
      assert.deepEqual([...map.keys()].toReversed(), newestFirst.slice(0, map.size));
    }),
  ));

test('adding to a full map takes the same time at any size', () => {
  const additions = 50_000;
  const fill = (maxSize: number) => {
    const map = new Map<number, number>();
    for (let key = 0; key < maxSize + additions; key += 1) setAndEvict(map, key, key, maxSize);
  };
  assert.ok(growthFactor(fill, 6250) < 24);
});
