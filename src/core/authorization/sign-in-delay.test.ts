import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FailureScope, failureLifetime, freeFailures, remainingDelay } from './sign-in-delay.ts';

const now = Date.UTC(2026, 0, 31);
const delayOf = (scope: FailureScope, count: number) => remainingDelay([{ scope, count, lastAt: now }], now);

test('failures count for fifteen minutes', () => assert.equal(failureLifetime, 900_000));

test('there is no delay before the first failure', () => assert.equal(remainingDelay([], now), 0));

for (const [scope, free] of [
  ['pair', 5],
  ['network', 50],
  ['wide', 200],
] as const)
  test(`${free} failures in the scope ${scope} cause no delay; the next one causes a delay of one second, and each further one doubles it, up to five minutes`, () => {
    assert.equal(freeFailures[scope], free);
    const delays = Array.from({ length: 12 }, (_, surplus) => delayOf(scope, free + surplus) / 1000);
    assert.deepEqual(delays, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert.equal(delayOf(scope, 1), 0);
  });

const anyFailures = fc.record({
  scope: fc.constantFrom<FailureScope>('pair', 'network', 'wide'),
  count: fc.nat(100_000),
  lastAt: fc.integer({ min: now - 1_000_000, max: now }),
});

test('the delay is never longer than five minutes', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (counts) => {
      const delay = remainingDelay(counts, now);
      assert.ok(delay >= 0 && delay <= 300_000);
    }),
  ));

test('the longest of several delays applies', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (counts) =>
      assert.equal(remainingDelay(counts, now), Math.max(0, ...counts.map((count) => remainingDelay([count], now)))),
    ),
  ));

test('another failure never shortens the delay', () =>
  fc.assert(
    fc.property(anyFailures, (failures) =>
      assert.ok(remainingDelay([{ ...failures, count: failures.count + 1 }], now) >= remainingDelay([failures], now)),
    ),
  ));

test('an attempt is accepted after the remaining delay, and not before', () =>
  fc.assert(
    fc.property(fc.array(anyFailures), (counts) => {
      const delay = remainingDelay(counts, now);
      assert.equal(remainingDelay(counts, now + delay), 0);
      if (delay > 0) assert.equal(remainingDelay(counts, now + delay - 1), 1);
    }),
  ));

test('the first failures in a scope cause no delay, even if the last one is slightly in the future', () => {
  const at = Date.UTC(2026, 0, 31);
  for (const scope of ['pair', 'network', 'wide'] as const)
    assert.equal(remainingDelay([{ scope, count: freeFailures[scope], lastAt: at + 5 }], at), 0);
});
