import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ItemsByGroup } from './items-by-group.ts';

test('the items of each group and the size of the largest group are correct after any additions and removals', () => {
  const step = fc.tuple(fc.boolean(), fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 5 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const groups = new ItemsByGroup<number>();
      const expected = new Map(['a', 'b', 'c'].map((name) => [name, new Set<number>()]));
      for (const [isAdded, name, item] of steps) {
        if (isAdded) groups.add(name, item);
        else groups.remove(name, item);
        const items = expected.get(name);
        if (isAdded) items?.add(item);
        else items?.delete(item);
        assert.deepEqual([...groups.itemsOf(name)], [...(items ?? [])]);
        assert.equal(groups.largest.size, Math.max(...expected.values().map(({ size }) => size)));
      }
    }),
  );
});
