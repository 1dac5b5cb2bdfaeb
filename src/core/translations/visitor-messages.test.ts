import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allWords } from './all-messages.ts';
import { languageOf, languages, tagOf } from './languages.ts';
import { sayIn } from './translate.ts';
import type { Counted } from './visitor-messages.ts';

const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const formsOf = (text: string | Counted) => (typeof text === 'string' ? [text] : Object.values(text));

for (const language of languages)
  test(`a visitor who reads ${language} finds every text, with every value in it and every way to count`, () => {
    const categories = new Set(Array.from({ length: 200 }, (_, count) => new Intl.PluralRules(language).select(count)));
    assert.deepEqual(Object.keys(allWords[language]), Object.keys(allWords.en));
    for (const [name, text] of Object.entries(allWords[language])) {
      const [english = ''] = formsOf(Object.entries(allWords.en).find(([key]) => key === name)?.[1] ?? '');
      for (const form of formsOf(text)) {
        assert.deepEqual(namesIn(form), namesIn(english), `${language} ${name}`);
        assert.ok(form.trim() === form && form !== '', `${language} ${name}`);
      }
      if (typeof text !== 'string') assert.deepEqual(new Set(Object.keys(text)), new Set([...categories, 'other']), `${language} ${name}`);
    }
  });

test('no language but English reads as English', () => {
  const same = (language: (typeof languages)[number]) =>
    Object.entries(allWords[language]).filter(([name, text]) => text === Object.entries(allWords.en).find(([key]) => key === name)?.[1]);
  for (const language of languages.filter((one) => one !== 'en')) assert.ok(same(language).length < 10, `${language}: ${same(language)}`);
});

test('a text counts as its language does', () => {
  const say = sayIn(allWords.pl, 'pl');
  assert.deepEqual(
    [1, 2, 5, 22].map((count) => say('items', { count })),
    ['1 element', '2 elementy', '5 elementów', '22 elementy'],
  );
  assert.equal(sayIn(allWords.de, 'de')('bytes', { count: 1234567 }), '1.234.567 Bytes');
});

test('the first language that is wanted and known is spoken, with the numbers of its region', () => {
  assert.equal(languageOf(['sv-SE', 'de-AT', 'en']), 'de');
  assert.equal(languageOf(['zh-Hant-TW']), 'zh');
  assert.equal(languageOf([]), 'en');
  assert.equal(tagOf('de', ['sv-SE', 'de-AT', 'en']), 'de-AT');
  assert.equal(tagOf('fr', ['de-AT']), 'fr');
  assert.equal(tagOf('de', ['de-aa-bb', 'de-']), 'de');
});
