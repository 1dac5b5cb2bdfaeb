import type { en } from './en.ts';

/** One text for each way in which a language counts (CLDR plural categories); `other` for the rest. */
export type Counted = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** Every text a visitor reads, in one language. */
export type Words = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Counted };
