import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import type { Language } from './languages.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import type { VisitorMessages } from './visitor-messages.ts';
import { zh } from './zh.ts';

/** The messages of every language. Only the server imports this. A page loads only English and its own language. */
export const allMessages: Readonly<Record<Language, VisitorMessages>> = { en, de, fr, es, it, nl, pl, pt, ja, zh, ar };
