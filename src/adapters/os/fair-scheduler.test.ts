import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fairScheduler } from './fair-scheduler.ts';

const busy = (duration: number) => {
  const end = performance.now() + duration;
  while (performance.now() < end);
};

test('within a group, the part whose work took the least time comes first', async () => {
  const inTurn = fairScheduler(2, 1);
  const order: string[] = [];
  const run = (part: string, duration: number) =>
    inTurn(
      'tenant',
      async () => {
        busy(duration);
        order.push(part);
      },
      part,
    );
  await Promise.all([run('slow', 20), run('slow', 20), run('slow', 20), run('quick', 0), run('quick', 0)]);
  assert.deepEqual(order, ['slow', 'quick', 'quick', 'slow', 'slow']);
});

test('a group that waits for its own turn leaves the other turns to other groups', async () => {
  const inTurn = fairScheduler(2, 1);
  const first = Promise.withResolvers<void>();
  const running = inTurn('one', () => first.promise);
  const second = inTurn('one', async () => 'second of one');
  assert.equal(await inTurn('other', async () => 'other'), 'other');
  first.resolve();
  await running;
  assert.equal(await second, 'second of one');
});
