import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FailingLocations } from '#features/visits/files/failing-locations.ts';

test('the pauses between attempts at a failing location grow up to a minute', () => {
  let now = 0;
  const failing = new FailingLocations(() => now);
  for (const pause of [10_000, 10_000, 30_000, 60_000, 60_000]) {
    failing.add('1', 'it does not respond');
    now += pause - 1;
    assert.equal(failing.mayTry('1'), false);
    assert.equal(failing.mayTry('2'), true);
    now += 1;
    assert.equal(failing.mayTry('1'), true);
  }
});

test('a location that a process has given up is left to other processes for a minute', () => {
  let now = 0;
  const failing = new FailingLocations(() => now);
  failing.giveUp('1');
  failing.keepOnly(new Map());
  assert.deepEqual([failing.isGivenUp('1'), failing.isGivenUp('2')], [true, false]);
  now = 60_000;
  assert.equal(failing.isGivenUp('1'), false);
});

test('a reason is reported as new only once, until it changes or the location has recovered', () => {
  const failing = new FailingLocations(() => 0);
  assert.deepEqual(
    ['away', 'away', 'denied', 'denied'].map((reason) => failing.add('1', reason)),
    [true, false, true, false],
  );
  failing.delete('1');
  assert.equal(failing.add('1', 'denied'), true);
  failing.keepOnly(new Map());
  assert.equal(failing.mayTry('1'), true);
});
