import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fairQueue } from './fair-queue.ts';

test('a new group waits for one item of each other group, no matter how many items the other groups have', () => {
  const queue = fairQueue<string>();
  for (let number = 0; number < 100; number += 1) queue.add(['link a', 'address 1'], `a${number}`);
  queue.add(['link b', 'address 2'], 'b0');
  queue.add(['link a', 'address 3'], 'other');
  assert.deepEqual(
    Array.from({ length: 5 }, () => queue.take()),
    ['a0', 'b0', 'other', 'a1', 'a2'],
  );
});

test('items of one group keep their order', () => {
  const queue = fairQueue<number>();
  for (const item of [1, 2, 3]) queue.add(['a'], item);
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.take()], [1, 2, 3, undefined]);
});

const groups = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'));
const steps = fc.array(fc.oneof(fc.record({ add: groups }), fc.constant('take' as const), fc.record({ remove: fc.nat(20) })));

test('every item is taken once or removed once, and the counts match the waiting items', () =>
  fc.assert(
    fc.property(steps, (sequence) => {
      const queue = fairQueue<number>();
      let waiting: { item: number; path: [string, string] }[] = [];
      let next = 0;
      for (const step of sequence) {
        if (step === 'take') {
          const item = queue.take();
          assert.equal(item === undefined, waiting.length === 0);
          waiting = waiting.filter((entry) => entry.item !== item);
        } else if ('add' in step) {
          queue.add(step.add, next);
          waiting.push({ item: next, path: step.add });
          next += 1;
        } else {
          const entryToRemove = waiting[step.remove];
          assert.equal(queue.remove(entryToRemove?.path ?? ['a', 'x'], entryToRemove?.item ?? -1), entryToRemove !== undefined);
          waiting = waiting.filter((entry) => entry !== entryToRemove);
        }
        assert.equal(queue.count([]), waiting.length);
        assert.equal(queue.count(['a', 'x']), waiting.filter(({ path }) => path.join() === 'a,x').length);
      }
    }),
  ));
