import type { PluralForms } from '#core/translations/visitor-messages.ts';
import type { en } from './en.ts';

/** All texts of mails in one language. */
export type MailMessages = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : PluralForms };
