import type { Language } from '#core/translations/languages.ts';
import { unitFormats } from '#core/translations/unit-formats.ts';

/** Formats values in the language of a mail. */
export interface MailFormats {
  /** `3.4 MB`. */
  size(bytes: number): string;
  /** `March 31, 2026 at 5:00:05 PM UTC`: with the zone, since the reader may be in another one. */
  time(at: number): string;
  /** `a, b, and c`. */
  list(items: readonly string[]): string;
}

/** Returns the formats of a language. @param timeZone IANA name */
export function createFormats(language: Language, timeZone: string): MailFormats {
  const time = new Intl.DateTimeFormat(language, {
    ...{ day: 'numeric', month: 'long', year: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
    ...{ timeZone, timeZoneName: 'short' },
  });
  const list = new Intl.ListFormat(language, { type: 'conjunction' });
  return {
    size: unitFormats(language).size,
    time: (at) => time.format(at),
    list: (items) => list.format(items),
  };
}
