/** The languages that visitors' pages speak (BCP 47). */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'ja', 'zh', 'ar'] as const;
export type Language = (typeof languages)[number];

const baseOf = (tag: string) => tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';

/** The first language of those wanted that there are words for. @param tags in order of preference, such as `de-AT` */
export function languageOf(tags: readonly string[]): Language {
  const wanted = tags.map(baseOf);
  const first = wanted.find((base) => languages.some((language) => language === base));
  return languages.find((language) => language === first) ?? 'en';
}

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** The first tag that is one: browsers on some systems name `en-US@posix`, which is none. @param tags in order of preference */
export const wellFormedTag = (tags: readonly string[]): string => tags.find(isWellFormed) ?? 'en';

/** The tag by which numbers and dates are written: the reader's own region where it speaks that language. */
export const tagOf = (language: Language, tags: readonly string[]): string =>
  tags.find((tag) => baseOf(tag) === language && isWellFormed(tag)) ?? language;

/** Which way a language is written. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
