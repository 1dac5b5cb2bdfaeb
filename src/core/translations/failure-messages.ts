import { en } from './en.ts';
import type { Words } from './visitor-messages.ts';

type Explained = { [Key in keyof Words]: `${Key}Next` extends keyof Words ? Key : never }[keyof Words];

const explained = Object.keys(en).filter((name): name is Explained => `${name}Next` in en);

/** What to tell of a failure and what to do next, by its code (docs/integrator/messages.md). */
export function failureTexts(code: string): { readonly title: Explained; readonly next: `${Explained}Next` } {
  const title = explained.find((name) => name === code) ?? 'wentWrong';
  return { title, next: `${title}Next` };
}
