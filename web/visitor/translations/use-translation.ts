import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { en } from '#core/translations/en.ts';
import { directionOf, type Language, languageOf, tagOf } from '#core/translations/languages.ts';
import { type Say, sayIn } from '#core/translations/translate.ts';
import type { Words } from '#core/translations/visitor-messages.ts';
import { type Formats, formatsFor } from '#kit/format.ts';

/** How the page speaks to this visitor. */
export interface Speech {
  readonly language: Language;
  readonly say: Say;
  readonly format: Formats;
}

/** English comes with the page: it is there whatever else fails to load. */
const others: Record<Exclude<Language, 'en'>, () => Promise<Words>> = {
  de: async () => (await import('#core/translations/de.ts')).de,
  fr: async () => (await import('#core/translations/fr.ts')).fr,
  es: async () => (await import('#core/translations/es.ts')).es,
  it: async () => (await import('#core/translations/it.ts')).it,
  nl: async () => (await import('#core/translations/nl.ts')).nl,
  pl: async () => (await import('#core/translations/pl.ts')).pl,
  pt: async () => (await import('#core/translations/pt.ts')).pt,
  ja: async () => (await import('#core/translations/ja.ts')).ja,
  zh: async () => (await import('#core/translations/zh.ts')).zh,
  ar: async () => (await import('#core/translations/ar.ts')).ar,
};

/** Speaks the language of the profile, else the browser's. @param lang the profile's, or empty */
export async function speechFor(lang: string): Promise<Speech> {
  const tags = [...(lang ? [lang] : []), ...navigator.languages];
  const wanted = languageOf(tags);
  const words = wanted === 'en' ? en : await others[wanted]().catch(() => en);
  const language = words === en ? 'en' : wanted;
  const tag = tagOf(language, tags);
  return { language, say: sayIn(words, tag), format: formatsFor(tag) };
}

/** The page itself is written the way the language is. */
export function speakAs({ language }: Speech): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

const english: Speech = { language: 'en', say: sayIn(en, 'en'), format: formatsFor('en') };
export const Speaking = createContext<Speech>(english);
export const useSpeech = () => useContext(Speaking);
