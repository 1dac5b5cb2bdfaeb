import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantTurns } from './tenant-turns.ts';

test('the work of one tenant does not wait for all work of another tenant, which takes long', async () => {
  let now = 0;
  const parsed: string[] = [];
  const turns = new TenantTurns(() => now);
  const add = (tid: number, cost: number) =>
    turns.add(tid, () => {
      now += cost;
      parsed.push(`${tid}`);
    });
  for (let count = 0; count < 10; count += 1) add(1, 100);
  while (parsed.length < 3) await new Promise(setImmediate);
  for (let count = 0; count < 3; count += 1) add(2, 1);
  while (parsed.length < 13) await new Promise(setImmediate);
  assert.ok(parsed.lastIndexOf('2') < 8, parsed.join());
});

test('other requests get as much time as the work, if a rest is set', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const done: number[] = [];
  const turns = new TenantTurns(() => now, 1);
  for (const number of [1, 2])
    turns.add(1, () => {
      now += 50;
      done.push(number);
    });
  for (let iteration = 0; iteration < 5; iteration += 1) await new Promise(setImmediate);
  assert.deepEqual(done, [1]);
  t.mock.timers.tick(49);
  await new Promise(setImmediate);
  assert.deepEqual(done, [1]);
  t.mock.timers.tick(1);
  await new Promise(setImmediate);
  assert.deepEqual(done, [1, 2]);
});
