import type { PluralForms } from '#core/translations/visitor-messages.ts';
import type { mailEn } from './en.ts';

/** All texts of mails in one language. */
export type MailMessages = { readonly [Key in keyof typeof mailEn]: (typeof mailEn)[Key] extends string ? string : PluralForms };
