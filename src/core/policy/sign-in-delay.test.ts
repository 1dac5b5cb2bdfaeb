import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FailureScope, failuresCountFor, freeFailures, remainingDelay } from './sign-in-delay.ts';

const now = Date.UTC(2026, 0, 31);
const waitOf = (scope: FailureScope, count: number) => remainingDelay([{ scope, count, lastAt: now }], now);

test('failures count for fifteen minutes', () => assert.equal(failuresCountFor, 900_000));

test('nobody waits before the first failure', () => assert.equal(remainingDelay([], now), 0));

for (const [scope, free] of [
  ['pair', 5],
  ['network', 50],
  ['wide', 200],
] as const)
  test(`${free} failures of a ${scope} cost nothing, and the next doubles from one second to five minutes`, () => {
    assert.equal(freeFailures[scope], free);
    const waits = Array.from({ length: 12 }, (_, beyond) => waitOf(scope, free + beyond) / 1000);
    assert.deepEqual(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert.equal(waitOf(scope, 1), 0);
  });

const anyFailures = fc.record({
  scope: fc.constantFrom<FailureScope>('pair', 'network', 'wide'),
  count: fc.nat(100_000),
  lastAt: fc.integer({ min: now - 1_000_000, max: now }),
});

test('nobody ever waits for more than five minutes, however often they failed', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (known) => {
      const wait = remainingDelay(known, now);
      assert.ok(wait >= 0 && wait <= 300_000);
    }),
  ));

test('of several waits the longest counts', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (known) =>
      assert.equal(remainingDelay(known, now), Math.max(0, ...known.map((one) => remainingDelay([one], now)))),
    ),
  ));

test('one more failure never shortens a wait', () =>
  fc.assert(
    fc.property(anyFailures, (one) => assert.ok(remainingDelay([{ ...one, count: one.count + 1 }], now) >= remainingDelay([one], now))),
  ));

test('after the wait that was told an attempt is looked at, and not before', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (known) => {
      const wait = remainingDelay(known, now);
      assert.equal(remainingDelay(known, now + wait), 0);
      if (wait > 0) assert.equal(remainingDelay(known, now + wait - 1), 1);
    }),
  ));

test('a failure that is free costs no wait, even one that was noted a moment from now', () => {
  const at = Date.UTC(2026, 0, 31);
  for (const scope of ['pair', 'network', 'wide'] as const)
    assert.equal(remainingDelay([{ scope, count: freeFailures[scope], lastAt: at + 5 }], at), 0);
});
