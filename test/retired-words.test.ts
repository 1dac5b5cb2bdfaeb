import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const exported = /^export (?:abstract )?(?:async )?(?:class|const|function\*?|interface|let|type) (\w+)/gm;
/** Words that exported names no longer use. docs/glossary.md lists the terms in use. */
const retiredWords = new Set(
  'aside approach approaching asked asker beneath begun debt debts entered fault faults fresh happening happenings kept owe owed patience recognise recognised said settle settled spot told trail twin unsettled whole'.split(
    ' ',
  ),
);

const wordsOf = (name: string) => (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
const namesIn = (file: string) => [...readFileSync(join(root, file), 'utf8').matchAll(exported)].map(([, name = '']) => name);
const sources = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root }).filter((file) => !file.includes('.test.'));

test('no exported name contains a retired word', () => {
  const retiredNames = sources.flatMap((file) =>
    namesIn(file)
      .filter((name) => wordsOf(name).some((word) => retiredWords.has(word)))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(retiredNames, []);
});

test('no two modules of the server export the same name, except modules of adapters', () => {
  // An operation and its record or rule may share a word, but never the complete name.
  const filesByName = new Map<string, string[]>();
  for (const file of sources.filter((source) => source.startsWith('src/')))
    for (const name of new Set(namesIn(file))) filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
  const duplicates = [...filesByName].filter(([, files]) => files.length > 1 && !files.every((file) => file.startsWith('src/adapters/')));
  assert.deepEqual(duplicates, []);
});
