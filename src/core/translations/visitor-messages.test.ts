import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allMessages } from './all-messages.ts';
import { languageOf, languages, tagOf } from './languages.ts';
import { createTranslate } from './translate.ts';
import type { PluralForms } from './visitor-messages.ts';

const valueNames = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const formsOf = (text: string | PluralForms) => (typeof text === 'string' ? [text] : Object.values(text));

for (const language of languages)
  test(`${language} has every text, with all its values and plural forms`, () => {
    const categories = new Set(Array.from({ length: 200 }, (_, count) => new Intl.PluralRules(language).select(count)));
    assert.deepEqual(Object.keys(allMessages[language]), Object.keys(allMessages.en));
    for (const [name, text] of Object.entries(allMessages[language])) {
      const [english = ''] = formsOf(Object.entries(allMessages.en).find(([key]) => key === name)?.[1] ?? '');
      for (const form of formsOf(text)) {
        assert.deepEqual(valueNames(form), valueNames(english), `${language} ${name}`);
        assert.ok(form.trim() === form && form !== '', `${language} ${name}`);
      }
      if (typeof text !== 'string') assert.deepEqual(new Set(Object.keys(text)), new Set([...categories, 'other']), `${language} ${name}`);
    }
  });

test('in each translation, fewer than ten texts are identical to the English text', () => {
  const identicalTexts = (language: (typeof languages)[number]) =>
    Object.entries(allMessages[language]).filter(
      ([name, text]) => text === Object.entries(allMessages.en).find(([key]) => key === name)?.[1],
    );
  for (const language of languages.filter((one) => one !== 'en'))
    assert.ok(identicalTexts(language).length < 10, `${language}: ${identicalTexts(language)}`);
});

test('a text uses the plural forms and the number format of its language', () => {
  const translate = createTranslate(allMessages.pl, 'pl');
  assert.deepEqual(
    [1, 2, 5, 22].map((count) => translate('items', { count })),
    ['1 element', '2 elementy', '5 elementów', '22 elementy'],
  );
  assert.equal(createTranslate(allMessages.de, 'de')('bytes', { count: 1234567 }), '1.234.567 Bytes');
});

test('the first preferred language that has a translation is used, with the number format of its region', () => {
  assert.equal(languageOf(['sv-SE', 'de-AT', 'en']), 'de');
  assert.equal(languageOf(['zh-Hant-TW']), 'zh');
  assert.equal(languageOf([]), 'en');
  assert.equal(tagOf('de', ['sv-SE', 'de-AT', 'en']), 'de-AT');
  assert.equal(tagOf('fr', ['de-AT']), 'fr');
  assert.equal(tagOf('de', ['de-aa-bb', 'de-']), 'de');
});
