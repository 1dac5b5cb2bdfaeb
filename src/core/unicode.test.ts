import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fold } from './fold.ts';
import { normalizeText } from './unicode.ts';

const runOfMarks = (marks: number) => `a${'\u0301'.repeat(marks)}${'\u0316'.repeat(marks)}`;

test('a text is normalized unless it has more combining marks in a row than any language uses', () => {
  assert.equal(normalizeText('e\u0301'), '\u00e9');
  assert.equal(normalizeText('\uff41', 'NFKC'), 'a');
  assert.equal(normalizeText(runOfMarks(15)), runOfMarks(15).normalize('NFC'));
  for (const marks of ['\u0301\u0316', '\u0344\u0316', '\u0316\uff9e', '\u05b0\u0591'])
    for (const form of ['NFC', 'NFKC'] as const) assert.equal(normalizeText(`a${marks.repeat(20)}`, form), `a${marks.repeat(20)}`);
});

// The time to normalize grows with the square of the length of a run, so long runs must never reach normalize().
test('long runs of marks are not normalized, and only unicode.ts and two files with short texts call normalize()', (t) => {
  const { normalize } = String.prototype;
  let longest = 0;
  t.mock.method(String.prototype, 'normalize', function (this: string, form?: string) {
    longest = Math.max(longest, this.length);
    return normalize.call(this, form);
  });
  fold(runOfMarks(50_000));
  assert.equal(longest, 0);
  const source = join(import.meta.dirname, '..');
  const callers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(source, file), 'utf8').includes('.normalize('));
  assert.deepEqual(callers.sort(), ['core/item-path.ts', 'core/ldap/loose-name.ts', 'core/unicode.ts']);
});
