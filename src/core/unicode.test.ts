import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fold } from './fold.ts';
import { normalizeText } from './unicode.ts';

const hostile = (marks: number) => `a${'\u0301'.repeat(marks)}${'\u0316'.repeat(marks)}`;

test('a text is normalized, unless it holds more combining marks in a row than any language', () => {
  assert.equal(normalizeText('e\u0301'), '\u00e9');
  assert.equal(normalizeText('\uff41', 'NFKC'), 'a');
  assert.equal(normalizeText(hostile(15)), hostile(15).normalize('NFC'));
  for (const marks of ['\u0301\u0316', '\u0344\u0316', '\u0316\uff9e', '\u05b0\u0591'])
    for (const form of ['NFC', 'NFKC'] as const) assert.equal(normalizeText(`a${marks.repeat(20)}`, form), `a${marks.repeat(20)}`);
});

// A text that is left as it is costs no normalizing: what grows with the square of a run never begins.
test('texts are normalized and folded at one place alone, which leaves long runs of marks', (t) => {
  const { normalize } = String.prototype;
  let longest = 0;
  t.mock.method(String.prototype, 'normalize', function (this: string, form?: string) {
    longest = Math.max(longest, this.length);
    return normalize.call(this, form);
  });
  fold(hostile(50_000));
  assert.equal(longest, 0);
  const source = join(import.meta.dirname, '..');
  const callers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(source, file), 'utf8').includes('.normalize('));
  assert.deepEqual(callers.sort(), ['core/item-path.ts', 'core/unicode.ts']);
});
