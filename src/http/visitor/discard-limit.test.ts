import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiscardLimit } from './discard-limit.ts';

test('at most four bodies of one network are discarded at a time, and sixteen in total', () => {
  const limit = new DiscardLimit();
  const takePlaces = (address: string, count: number) => Array.from({ length: count }, () => limit.take(address) !== null);
  assert.deepEqual(takePlaces('192.0.2.1', 5), [true, true, true, true, false]);
  for (let network = 2; network <= 4; network += 1) takePlaces(`192.0.2.${network}`, 4);
  assert.deepEqual(takePlaces('192.0.2.9', 1), [false]);
});

test('a place that was given back twice can be taken again only once', () => {
  const limit = new DiscardLimit();
  const releases = Array.from({ length: 4 }, () => limit.take('192.0.2.1'));
  releases[0]?.();
  releases[0]?.();
  assert.notEqual(limit.take('192.0.2.1'), null);
  assert.equal(limit.take('192.0.2.1'), null);
});
