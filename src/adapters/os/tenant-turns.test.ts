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

test('a tenant whose work took more than 100 ms pauses for twenty times as long, and others continue', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const done: string[] = [];
  const turns = new TenantTurns(() => now);
  const add = (tenant: number | string, cost: number) =>
    turns.add(tenant, () => {
      now += cost;
      done.push(`${tenant}`);
    });
  const iterate = async () => {
    for (let iteration = 0; iteration < 20; iteration += 1) await new Promise(setImmediate);
  };
  for (const tenant of [1, 1, '192.0.2.1', '192.0.2.1']) add(tenant, tenant === 1 ? 101 : 100);
  await iterate();
  assert.deepEqual(done, ['1', '192.0.2.1', '192.0.2.1']);
  t.mock.timers.tick(2019);
  await iterate();
  assert.equal(done.length, 3);
  t.mock.timers.tick(1);
  await iterate();
  assert.deepEqual(done, ['1', '192.0.2.1', '192.0.2.1', '1']);
});
