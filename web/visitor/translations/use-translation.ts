import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { en } from '#core/translations/en.ts';
import { directionOf, type Language, languageOf, tagOf } from '#core/translations/languages.ts';
import { createTranslate, type Translate } from '#core/translations/translate.ts';
import type { VisitorMessages } from '#core/translations/visitor-messages.ts';
import { type Formats, formatsFor } from '#kit/format.ts';

/** The language of the page, with its texts and formats. */
export interface Translation {
  readonly language: Language;
  readonly translate: Translate;
  readonly format: Formats;
}

/** Loads the other languages on demand. English is part of the page, so that there are texts even if another language fails to load. */
const loaders: Record<Exclude<Language, 'en'>, () => Promise<VisitorMessages>> = {
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

/** Loads the translation into the login profile's language, or the browser's. @param lang the profile's language, or empty */
export async function loadTranslation(lang: string): Promise<Translation> {
  const tags = [...(lang ? [lang] : []), ...navigator.languages];
  const preferred = languageOf(tags);
  const messages = preferred === 'en' ? en : await loaders[preferred]().catch(() => en);
  const language = messages === en ? 'en' : preferred;
  const tag = tagOf(language, tags);
  return { language, translate: createTranslate(messages, tag), format: formatsFor(tag) };
}

/** Sets the language and the writing direction of the document. */
export function applyLanguage({ language }: Translation): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

const english: Translation = { language: 'en', translate: createTranslate(en, 'en'), format: formatsFor('en') };
export const TranslationContext = createContext<Translation>(english);
export const useTranslation = () => useContext(TranslationContext);
