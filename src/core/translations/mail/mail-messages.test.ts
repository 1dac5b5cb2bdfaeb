import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from '#core/translations/languages.ts';
import type { PluralForms } from '#core/translations/visitor-messages.ts';
import { allMailMessages } from './all-mail-messages.ts';

const valueNames = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const formsOf = (text: string | PluralForms) => (typeof text === 'string' ? [text] : Object.values(text));

for (const language of languages)
  test(`mails in ${language} have every text, with all its values and plural forms`, () => {
    const categories = new Set(Array.from({ length: 200 }, (_, count) => new Intl.PluralRules(language).select(count)));
    assert.deepEqual(Object.keys(allMailMessages[language]), Object.keys(allMailMessages.en));
    const english = new Map<string, string | PluralForms>(Object.entries(allMailMessages.en));
    for (const [name, text] of Object.entries(allMailMessages[language])) {
      const [expected = ''] = formsOf(english.get(name) ?? '');
      for (const form of formsOf(text)) {
        assert.deepEqual(valueNames(form), valueNames(expected), `${language} ${name}`);
        assert.ok(form.trim() === form && form !== '', `${language} ${name}`);
      }
      if (typeof text !== 'string')
        assert.ok(
          [...categories].every((category) => category in text),
          `${language} ${name}`,
        );
    }
  });
