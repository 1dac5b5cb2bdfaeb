import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { growthEightfold } from '../../test/parts/growth.ts';
import { setNewest } from './newest.ts';

test('a map of the newest keeps what was added last, and never more than it may', () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 })), fc.integer({ min: 1, max: 12 }), (keys, most) => {
      const map = new Map<number, number>();
      for (const [index, key] of keys.entries()) {
        setNewest(map, key, index, most);
        assert.ok(map.size <= most);
        assert.equal(map.get(key), index);
      }
      const newestFirst = [...new Set(keys.toReversed())];
      assert.deepEqual([...map.keys()].toReversed(), newestFirst.slice(0, map.size));
    }),
  ));

test('adding to a full map costs the same however many it holds', () => {
  const added = 50_000;
  const fill = (most: number) => {
    const map = new Map<number, number>();
    for (let key = 0; key < most + added; key += 1) setNewest(map, key, key, most);
  };
  assert.ok(growthEightfold(fill, 6250) < 24);
});
