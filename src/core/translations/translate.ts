import { visibleName } from './visible-name.ts';
import type { Counted, Words } from './visitor-messages.ts';

export type Values = Readonly<Record<string, string | number>>;
/** A text with its values filled in; `count` chooses among the forms of a counted one. */
export type Say = (text: keyof Words, values?: Values) => string;

/** Speaks one language. @param tag how numbers are written and counted */
export function sayIn(words: Words, tag: string): Say {
  const forms = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  const formOf = (text: Counted, count: number) => text[forms.select(count)] ?? text.other;
  return (name, values = {}) => {
    const text = words[name];
    const form = typeof text === 'string' ? text : formOf(text, Number(values['count']));
    return form.replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = values[key] ?? '';
      if (typeof value === 'number') return numbers.format(value);
      return key === 'name' ? visibleName(value) : value;
    });
  };
}
