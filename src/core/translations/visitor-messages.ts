import type { en } from './en.ts';

/** One text for each plural category of a language (CLDR). `other` is used when a category has no text. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** All texts for visitors in one language. */
export type VisitorMessages = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : PluralForms };
