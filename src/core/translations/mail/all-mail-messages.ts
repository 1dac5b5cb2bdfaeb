import type { Language } from '#core/translations/languages.ts';
import { mailAr } from './ar.ts';
import { mailDe } from './de.ts';
import { mailEn } from './en.ts';
import { mailEs } from './es.ts';
import { mailFr } from './fr.ts';
import { mailIt } from './it.ts';
import { mailJa } from './ja.ts';
import type { MailMessages } from './mail-messages.ts';
import { mailNl } from './nl.ts';
import { mailPl } from './pl.ts';
import { mailPt } from './pt.ts';
import { mailZh } from './zh.ts';

/** The texts of mails in every language. */
export const allMailMessages: Readonly<Record<Language, MailMessages>> = {
  en: mailEn,
  de: mailDe,
  fr: mailFr,
  es: mailEs,
  it: mailIt,
  nl: mailNl,
  pl: mailPl,
  pt: mailPt,
  ja: mailJa,
  zh: mailZh,
  ar: mailAr,
};
