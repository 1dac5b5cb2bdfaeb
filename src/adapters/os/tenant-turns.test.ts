import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantTurns } from './tenant-turns.ts';

test('the work of one tenant does not wait for all of the long work of another tenant', async () => {
  let now = 0;
  const order: string[] = [];
  const turns = new TenantTurns(() => now);
  const add = (tid: number, cost: number) =>
    turns.add(tid, () => {
      now += cost;
      order.push(`${tid}`);
    });
  for (let count = 0; count < 10; count += 1) add(1, 100);
  while (order.length < 3) await new Promise(setImmediate);
  for (let count = 0; count < 3; count += 1) add(2, 1);
  while (order.length < 13) await new Promise(setImmediate);
  assert.ok(order.lastIndexOf('2') < 8, order.join());
});

test('other requests get as much time as the work, if restFactor is 1', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const order: number[] = [];
  const turns = new TenantTurns(() => now, 1);
  for (const number of [1, 2])
    turns.add(1, () => {
      now += 50;
      order.push(number);
    });
  for (let iteration = 0; iteration < 5; iteration += 1) await new Promise(setImmediate);
  assert.deepEqual(order, [1]);
  t.mock.timers.tick(49);
  await new Promise(setImmediate);
  assert.deepEqual(order, [1]);
  t.mock.timers.tick(1);
  await new Promise(setImmediate);
  assert.deepEqual(order, [1, 2]);
});

test('a tenant whose work took more than 100 ms pauses for twenty times as long, and others continue', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const order: string[] = [];
  const turns = new TenantTurns(() => now);
  const add = (tenant: number | string, cost: number) =>
    turns.add(tenant, () => {
      now += cost;
      order.push(`${tenant}`);
    });
  const iterate = async () => {
    for (let iteration = 0; iteration < 20; iteration += 1) await new Promise(setImmediate);
  };
  for (const tenant of [1, 1, '192.0.2.1', '192.0.2.1']) add(tenant, tenant === 1 ? 101 : 100);
  await iterate();
  assert.deepEqual(order, ['1', '192.0.2.1', '192.0.2.1']);
  t.mock.timers.tick(2019);
  await iterate();
  assert.equal(order.length, 3);
  t.mock.timers.tick(1);
  await iterate();
  assert.deepEqual(order, ['1', '192.0.2.1', '192.0.2.1', '1']);
});

test('eight cheap pieces of work run in one iteration of the event loop, and an expensive one is the last of its iteration', async () => {
  let now = 0;
  const order: number[] = [];
  const turns = new TenantTurns(() => now);
  const add = (number: number, cost: number) =>
    turns.add(1, async () => {
      await Promise.resolve(); // work that runs after a promise counts, too
      now += cost;
      order.push(number);
    });
  for (let number = 1; number <= 10; number += 1) add(number, number === 9 ? 2 : 0.01);
  const ended = [];
  for (let iteration = 0; iteration < 3; iteration += 1) {
    await new Promise(setImmediate);
    ended.push(order.length);
  }
  assert.deepEqual(ended, [8, 9, 10]);
});
