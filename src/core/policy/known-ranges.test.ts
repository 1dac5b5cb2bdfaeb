import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownRanges } from './known-ranges.ts';

/** A list of many ranges, a different one for each number. */
const listOf = (number: number, length: number) =>
  Array.from({ length }, (_, index) => `10.${number}.${index >> 8}.${index & 255}`).join(' ');

test('a long list is read once, however often it is asked for', () => {
  const rangesIn = knownRanges();
  assert.equal(rangesIn(listOf(1, 5000)), rangesIn(listOf(1, 5000)));
});

test('the lists that were asked for last are known, and no more than fit into memory', () => {
  const rangesIn = knownRanges();
  const [first, second] = [rangesIn(listOf(0, 9000)), rangesIn(listOf(1, 9000))];
  for (let number = 2; number < 23; number += 1) {
    rangesIn(listOf(number, 9000));
    assert.equal(rangesIn(listOf(0, 9000)), first);
  }
  assert.notEqual(rangesIn(listOf(1, 9000)), second);
});

test('few ranges in a long text take as much room as many', () => {
  const rangesIn = knownRanges();
  const long = (number: number) => `10.${number >> 8}.${number & 255}.0 ${listOf(1, 10)}${' '.repeat(60_000)}`;
  const first = rangesIn(long(0));
  for (let number = 1; number < 100; number += 1) rangesIn(long(number));
  assert.equal(rangesIn(long(0)), first);
  for (let number = 1; number < 600; number += 1) rangesIn(long(number));
  assert.notEqual(rangesIn(long(0)), first);
});

test('a list that was never checked is refused', () => {
  assert.throws(() => knownRanges()('10.0.0.0/33'));
});
