import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const exported = /^export (?:abstract )?(?:async )?(?:class|const|function\*?|interface|let|type) (\w+)/gm;
/** Retired words. docs/glossary.md has the term to use instead of each. */
const retired = new Set(
  'aside approach approaching asked asker beneath begun debt debts entered fault faults fresh happening happenings kept owe owed patience recognise recognised said settle settled spot told trail twin unsettled whole'.split(
    ' ',
  ),
);

const wordsOf = (name: string) => (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
const namesIn = (file: string) => [...readFileSync(join(root, file), 'utf8').matchAll(exported)].map(([, name = '']) => name);
const sources = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root }).filter((file) => !file.includes('.test.'));

test('no exported name contains a retired word', () => {
  const wrong = sources.flatMap((file) =>
    namesIn(file)
      .filter((name) => wordsOf(name).some((word) => retired.has(word)))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(wrong, []);
});

test('no two modules of the server export different things under one name', () => {
  // A feature's operation and the record or rule that it is about may share a word, never the whole name.
  const places = new Map<string, string[]>();
  for (const file of sources.filter((source) => source.startsWith('src/')))
    for (const name of new Set(namesIn(file))) places.set(name, [...(places.get(name) ?? []), file]);
  const twice = [...places].filter(([, files]) => files.length > 1 && !files.every((file) => file.startsWith('src/adapters/')));
  assert.deepEqual(twice, []);
});
