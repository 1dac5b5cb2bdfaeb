import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { growthFactor } from '../../test/parts/growth.ts';
import { formatList, listLength, parseList } from './list-text.ts';

test('a list is separated by commas, its entries are trimmed, and empty ones are dropped', () => {
  assert.deepEqual(parseList('ann, bob ,\tcarol'), ['ann', 'bob', 'carol']);
  assert.deepEqual(parseList(',, ann ,,bob,'), ['ann', 'bob']);
  for (const empty of ['', ' ', ',', ' , ,', '""', '"", " "']) assert.deepEqual(parseList(empty), []);
});

test('a duplicate entry appears once, at its first position', () => {
  assert.deepEqual(parseList('bob, ann, bob'), ['bob', 'ann']);
  assert.deepEqual(parseList('ann, "ann",  ann '), ['ann']);
});

test('an entry keeps the spaces, quotes and semicolons within it', () => {
  assert.deepEqual(parseList('Ann B. Smith, 6" rule, a;b'), ['Ann B. Smith', '6" rule', 'a;b']);
});

test('an entry with a comma is in double quotes, with inner quotes doubled', () => {
  assert.deepEqual(parseList('"Smith, Ann"'), ['Smith, Ann']);
  assert.deepEqual(parseList('bob, "Smith, ""Ann""" ,carol'), ['bob', 'Smith, "Ann"', 'carol']);
  assert.deepEqual(parseList('" ann "'), ['ann']);
  assert.deepEqual(parseList('""""'), ['"']);
});

for (const text of ['"ann', 'bob,"ann', '"ann, bob', '"a""', '"ann" b', '"a"b"', '"a" "b"'])
  test(`an entry with an unclosed quote, or with text after its closing quote, is refused: ${text}`, () =>
    assert.equal(parseList(text), null));

for (const text of [' "ann', 'bob, "ann', 'bob, "Smith, Ann', 'bob, "Smith, Ann" x', '\t"a" "b"'])
  test(`an entry with a wrong quote is refused even after white space: ${JSON.stringify(text)}`, () => assert.equal(parseList(text), null));

const anyEntry = fc
  .string({ unit: fc.constantFrom('a', 'B', 'é', '"', ',', ' ', '\n', ';', "'", '\\'), minLength: 1, maxLength: 8 })
  .map((entry) => entry.trim())
  .filter((entry) => entry !== '');

test('a formatted list is parsed back as the same entries', () =>
  fc.assert(
    fc.property(fc.uniqueArray(anyEntry), (entries) => assert.deepEqual(parseList(formatList(entries)), entries)),
    { numRuns: 2000 },
  ));

test('an accepted list does not change when it is formatted and parsed again', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '"', ',', ' '), maxLength: 12 }), (text) => {
      const entries = parseList(text);
      if (entries !== null) assert.deepEqual(parseList(formatList(entries)), entries);
    }),
    { numRuns: 2000 },
  ));

test('parsing a list stops after the entry that exceeds the limit', () => {
  assert.deepEqual(parseList('ann,bob,carol', 7), ['ann', 'bob', 'carol']);
  assert.deepEqual(parseList('ann,bob,carol', 6), ['ann', 'bob']);
  assert.deepEqual(parseList('ann, ann, ann, bob', 6), ['ann', 'bob']);
  assert.equal(parseList(Array.from({ length: 10_000 }, (_, index) => index).join(), 100)?.length, 38);
});

test('in its shortest spelling, the part of a list that is parsed exceeds the limit if and only if the complete list does', () =>
  fc.assert(
    fc.property(fc.uniqueArray(anyEntry, { minLength: 1 }), fc.integer({ min: 0, max: 60 }), (entries, limit) => {
      const parsedEntries = parseList(formatList(entries), limit) ?? [];
      assert.equal(listLength(parsedEntries) <= limit, listLength(entries) <= limit);
    }),
    { numRuns: 2000 },
  ));

test('an entry in quotes and the same entry without quotes are equal', () =>
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z][a-z ]{0,5}$/), (entry) => assert.deepEqual(parseList(`${entry}, "${entry}"`), [entry.trim()])),
  ));

for (const [input, inputOf] of [
  ['spaces before a quote that is not closed', (size: number) => `${' '.repeat(size)}"`],
  ['spaces after a closing quote', (size: number) => `"ann"${' '.repeat(size)}b`],
  ['quotes', (size: number) => '"'.repeat(size)],
  ['commas and spaces', (size: number) => ', '.repeat(size)],
] as const)
  test(`the time to parse a list is linear in its length: ${input}`, () => {
    assert.ok(growthFactor((size) => parseList(inputOf(size)), 32_768) < 24);
  });
