import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { wordFinder } from '#adapters/store/sqlite/search/word-finder.ts';
import { growthFactor } from '../parts/growth.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 12 });

test('a word of any length is found at the correct position', () =>
  fc.assert(
    fc.property(letters, letters, letters, fc.constantFrom(0, 195, 230), fc.nat(20), (before, word, after, more, start) => {
      const long = word + 'a'.repeat(more);
      const text = before + long.slice(1) + long + after + long;
      assert.equal(wordFinder(long)(text, start), text.indexOf(long, start));
    }),
    { numRuns: 2000 },
  ));

test('the time to find a long word that almost matches at every position does not grow in proportion to the length of the word', () => {
  const text = 'a'.repeat(100_000);
  const growth = growthFactor((length) => wordFinder(`aab${'a'.repeat(length)}`)(text), 250);
  assert.ok(growth < 4, `${growth} times`);
});
