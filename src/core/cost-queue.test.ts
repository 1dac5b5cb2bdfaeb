import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costQueue } from './cost-queue.ts';

/** Adds the items, takes all of them and charges their costs. @returns the groups in the order in which their items were taken */
function takeAll(costs: Record<string, readonly number[]>): string[] {
  const queue = costQueue<{ group: string; cost: number }>();
  for (const [group, items] of Object.entries(costs)) for (const cost of items) queue.add(group, { group, cost });
  const order: string[] = [];
  for (let item = queue.take(); item; item = queue.take()) {
    order.push(item.group);
    queue.charge(item.group, item.cost);
  }
  return order;
}

test('many cheap items wait for at most one expensive item', () => {
  const order = takeAll({ expensive: [100, 100, 100], cheap: Array.from({ length: 99 }, () => 1) });
  assert.deepEqual(order.slice(0, 2), ['expensive', 'cheap']);
  assert.equal(order.lastIndexOf('cheap'), 99);
});

test('groups whose items have the same cost take turns, one item each', () => {
  assert.deepEqual(takeAll({ a: [1, 1, 1], b: [1, 1], c: [1] }), ['a', 'b', 'c', 'a', 'b', 'a']);
});

test('items of one group keep their order', () => {
  const queue = costQueue<number>();
  for (const item of [1, 2, 3]) queue.add('only', item);
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.take()], [1, 2, 3, undefined]);
});

test('a group that was idle gets no more turns than the others when it comes back', () => {
  const queue = costQueue<string>();
  queue.add('idle', 'idle');
  queue.take();
  for (let turn = 0; turn < 100; turn += 1) {
    queue.add('busy', 'busy');
    queue.take();
    queue.charge('busy', 10);
  }
  for (let item = 0; item < 3; item += 1) for (const group of ['busy', 'idle']) queue.add(group, group);
  const order = Array.from({ length: 4 }, () => {
    const group = queue.take() ?? '';
    queue.charge(group, 10);
    return group;
  });
  assert.deepEqual(order.filter((group) => group === 'busy').length, 2);
});

test('the queue lists the names of waiting groups', () => {
  const queue = costQueue<number>();
  queue.add('a', 1);
  queue.add('b', 1);
  queue.take();
  assert.deepEqual(queue.groups(), ['b']);
});

test('a group gets its second turn even if new groups keep arriving', () => {
  const queue = costQueue<string>();
  for (let group = 0; group < 30; group += 1) queue.add(`new ${group}`, `new ${group}`);
  queue.add('old', 'old');
  const turns: number[] = [];
  for (let turn = 0; turn < 300; turn += 1) {
    const group = queue.take() ?? '';
    queue.charge(group, 10);
    if (group === 'old') {
      turns.push(turn);
      queue.add('old', 'old');
    } else queue.add(`newer ${turn}`, `newer ${turn}`);
  }
  assert.ok(turns.length >= 3, `its turns were ${turns.join(', ')}`);
});

test('a paused group waits and its items keep their order, and other groups go on', () => {
  const queue = costQueue<string>();
  for (const item of ['a1', 'a2']) queue.add('a', item);
  queue.pause('a');
  assert.equal(queue.isEmpty(), true);
  queue.add('a', 'a3');
  queue.add('b', 'b1');
  assert.deepEqual([queue.take(), queue.take(), queue.isEmpty()], ['b1', undefined, true]);
  assert.deepEqual(queue.groups(), ['a']);
  queue.resume('a');
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.isEmpty()], ['a1', 'a2', 'a3', true]);
});

test('the cost of an item counts for its group, even if other items were taken while the item was running', () => {
  const queue = costQueue<string>();
  for (const group of ['expensive', 'a', 'b']) queue.add(group, group);
  for (let item = 0; item < 200; item += 1) for (const group of ['a', 'b']) queue.add(group, group);
  assert.deepEqual([queue.take(), queue.take()], ['expensive', 'a']);
  queue.charge('expensive', 100);
  queue.charge('a', 1);
  queue.add('expensive', 'expensive');
  let others = 0;
  for (let item = queue.take(); item !== 'expensive' && item !== undefined; item = queue.take()) {
    queue.charge(item, 1);
    others += 1;
  }
  assert.ok(others > 150, `${others} items come first`);
});
