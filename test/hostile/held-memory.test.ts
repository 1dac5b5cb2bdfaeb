import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldMemory } from '#http/held-memory.ts';
import { growthFactor } from '../parts/growth.ts';

const networks = ['one', 'two', 'three', 'four'];

/**
 * Fills the memory with `size` requests of four networks, then adds `size / 5` requests of another network. Each of these aborts
 * an earlier request.
 * @returns how many requests were aborted
 */
function exceedLimit(size: number): number {
  const memory = new HeldMemory({ all: size }, 'bodiesBusy');
  let aborted = 0;
  const countAbort = () => {
    aborted += 1;
  };
  for (let index = 0; index < size; index += 1) memory.hold({ wideNetwork: networks[index % networks.length] ?? '' }, 1, countAbort);
  for (let index = 0; index < size / 5; index += 1) memory.hold({ wideNetwork: 'five' }, 1, countAbort);
  return aborted;
}

test('the time for a request at the memory limit does not depend on how many other requests hold memory', () => {
  assert.equal(exceedLimit(1000), 200);
  const factor = growthFactor(exceedLimit, 1000);
  assert.ok(factor < 24, `an eightfold number of requests takes ${factor.toFixed(1)} times as long`);
});

test('memory that was released in any order can be held again', () => {
  const memory = new HeldMemory({ all: 100 }, 'bodiesBusy');
  const releases = Array.from({ length: 100 }, () => memory.hold({ wideNetwork: 'one' }, 1, () => {}));
  assert.throws(() => memory.hold({ wideNetwork: 'one' }, 1, () => {}), { messageName: 'bodiesBusy' });
  for (const release of [...releases.slice(50), ...releases.slice(0, 50), ...releases]) release();
  for (let index = 0; index < 100; index += 1) memory.hold({ wideNetwork: 'one' }, 1, () => {});
  assert.throws(() => memory.hold({ wideNetwork: 'one' }, 1, () => {}), { messageName: 'bodiesBusy' });
});
