import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WaitingRequest, waitingLimit } from '#features/turns/waiting-limit.ts';
import { growthFactor } from '../parts/growth.ts';

/**
 * Fills a limit with one request from each of `all` networks. Returns the limit, and a request of another network that is not added yet.
 */
function fullLimit(all: number) {
  const limit = waitingLimit({ inner: 10, all }, () => new Error('busy'));
  const request = (name: string) => ({ inner: name, largeGroups: [`wide ${name}`, name], refuse: () => {} });
  for (let network = 0; network < all; network += 1) limit.add(request(`network ${network}`));
  return { limit, nextRequest: request('another network') };
}

test('refusing a request takes about the same time, however many requests wait', () => {
  const limits = new Map([1000, 8000].map((all) => [all, fullLimit(all)]));
  const refuseMany = (all: number) => {
    const setup = limits.get(all);
    for (let times = 0; times < 300; times += 1) assert.throws(() => setup?.limit.add(setup.nextRequest), /busy/);
  };
  assert.ok(growthFactor(refuseMany, 1000) < 3);
});

test('beyond the limit, the newest request of the largest group is refused in favor of a smaller group', () => {
  const refusedNames: string[] = [];
  const limit = waitingLimit({ inner: 10, all: 6 }, () => new Error('busy'));
  const add = (name: string, ...largeGroups: string[]) => {
    const request = { inner: name, largeGroups, refuse: () => refusedNames.push(name) };
    limit.add(request);
    return request;
  };
  const first = add('a1', 'link', 'wide a');
  for (const name of ['a2', 'a3']) add(name, 'link', 'wide a');
  for (const name of ['b1', 'b2']) add(name, 'link', 'wide b');
  add('c1', 'other link', 'wide c');
  add('d1', 'other link', 'wide d');
  assert.deepEqual(refusedNames, ['b2']);
  assert.equal(limit.remove(first), true);
  assert.equal(limit.remove(first), false);
  add('d2', 'other link', 'wide d');
  assert.throws(() => add('d3', 'other link', 'wide d'), /busy/);
  assert.deepEqual(refusedNames, ['b2']);
});

/** Creates a limit of `all` requests. `add` adds requests of a client, and `waitingOf` returns how many requests of a client wait. */
function newLimit(all: number) {
  const limit = waitingLimit({ inner: 16, all }, () => new Error('too many'));
  const waiting = new Map<string, number>();
  function add(client: string, largeGroups: readonly string[], count = 1): void {
    for (let index = 0; index < count; index += 1) {
      const refuse = () => waiting.set(client, (waiting.get(client) ?? 0) - 1);
      const request: WaitingRequest = { inner: client, largeGroups, refuse };
      limit.add(request);
      waiting.set(client, (waiting.get(client) ?? 0) + 1);
    }
  }
  return { add, waitingOf: (client: string) => waiting.get(client) ?? 0 };
}

test('clients of one network that fill a queue do not keep other networks away from the same link', () => {
  const { add, waitingOf } = newLimit(20);
  for (const client of ['a', 'b', 'c', 'd']) add(client, ['link 1', 'network 1'], 5);
  add('new', ['link 1', 'network 2']);
  assert.equal(waitingOf('new'), 1);
  assert.equal(waitingOf('d'), 4);
});

test('networks that fill the queue of all visitors of a tenant do not keep a new network away', () => {
  const { add, waitingOf } = newLimit(64);
  for (const client of ['a', 'b', 'c', 'd']) add(client, ['tenant 1', 'visitors', client], 16);
  add('new', ['tenant 1', 'visitors', 'new']);
  assert.equal(waitingOf('new'), 1);
});

test('clients of one link that come from many networks do not take the places of the clients of other links', () => {
  const { add, waitingOf } = newLimit(20);
  add('visitor', ['link 2', 'network 0'], 4);
  for (let index = 1; index <= 16; index += 1) add(`client ${index}`, ['link 1', `network ${index}`]);
  assert.throws(() => add('client 17', ['link 1', 'network 17']), /too many/);
  assert.equal(waitingOf('visitor'), 4);
});

test('beyond the limit, a client is refused if its group is as large as every other group', () => {
  const { add } = newLimit(10);
  add('a', ['link 1'], 5);
  add('b', ['link 2'], 5);
  assert.throws(() => add('a', ['link 1']), /too many/);
});
