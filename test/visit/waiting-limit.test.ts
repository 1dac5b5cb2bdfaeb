import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingLimit } from '#features/turns/waiting-limit.ts';
import { growthFactor } from '../parts/growth.ts';

/** Returns a limit that is reached, because one request of each of `all` networks waits, and a request of another network. */
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
