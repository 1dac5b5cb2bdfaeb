import { visibleName } from './visible-name.ts';
import type { PluralForms, VisitorMessages } from './visitor-messages.ts';

export type MessageValues = Readonly<Record<string, string | number>>;
/** Returns the text of a key, with its placeholders replaced by values. The value `count` selects the plural form. */
export type TranslateKey<Key> = (key: Key, values?: MessageValues) => string;
export type Translate = TranslateKey<keyof VisitorMessages>;

/** Returns the function that translates into one language. @param tag BCP 47 tag for number format and plural rules */
export function createTranslate<Key extends string>(messages: Readonly<Record<Key, string | PluralForms>>, tag: string): TranslateKey<Key> {
  const plurals = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  const pluralForm = (forms: PluralForms, count: number) => forms[plurals.select(count)] ?? forms.other;
  return (key, values = {}) => {
    const message = messages[key];
    const text = typeof message === 'string' ? message : pluralForm(message, Number(values['count']));
    return text.replace(/\{(\w+)\}/g, (_, valueName: string) => {
      const value = values[valueName] ?? '';
      if (typeof value === 'number') return numbers.format(value);
      return valueName === 'name' ? visibleName(value) : value;
    });
  };
}
