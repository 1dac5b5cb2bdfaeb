import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatsFor } from '#kit/format.ts';

test('a size is shown in a unit in which it stays below 1000, even after rounding, except in petabytes', () => {
  const { size } = formatsFor('en');
  const sizes = [0, 1, 999, 1000, 99_950, 999_499, 999_500, 999_999, 1_000_000, 999_999_999, 10 ** 15 - 1, 2 * 10 ** 18];
  assert.deepEqual(sizes.map(size), [
    ...['0 bytes', '1 byte', '999 bytes', '1 kB', '100 kB', '999 kB', '1 MB', '1 MB', '1 MB', '1 GB', '1 PB', '2,000 PB'],
  ]);
});
