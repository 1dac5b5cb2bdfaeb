import type { en } from './en.ts';

/** The texts for the plural categories of a language (CLDR). `other` is used for a category without a text. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** All texts for visitors in one language, except the texts of mails. */
export type VisitorMessages = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : PluralForms };
