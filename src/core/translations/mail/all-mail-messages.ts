import type { Language } from '#core/translations/languages.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import type { MailMessages } from './mail-messages.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import { zh } from './zh.ts';

/** The texts of mails in every language. */
export const allMailMessages: Readonly<Record<Language, MailMessages>> = { en, de, fr, es, it, nl, pl, pt, ja, zh, ar };
