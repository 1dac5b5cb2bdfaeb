/** The languages of the visitor's pages (BCP 47). */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'ja', 'zh', 'ar'] as const;
export type Language = (typeof languages)[number];

const baseOf = (tag: string) => tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';

/** Returns the first preferred language that has a translation, or English. @param tags in order of preference, such as `de-AT` */
export function languageOf(tags: readonly string[]): Language {
  const preferred = tags.map(baseOf).find((base) => languages.some((language) => language === base));
  return languages.find((language) => language === preferred) ?? 'en';
}

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/**
 * Returns the first well-formed tag, or `en`. Browsers on some systems report malformed tags such as `en-US@posix`.
 * @param tags in order of preference
 */
export const wellFormedTag = (tags: readonly string[]): string => tags.find(isWellFormed) ?? 'en';

/** Returns the tag for number and date formats: the reader's regional variant of the language, if there is one. */
export const tagOf = (language: Language, tags: readonly string[]): string =>
  tags.find((tag) => baseOf(tag) === language && isWellFormed(tag)) ?? language;

/** Returns the writing direction of a language. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
