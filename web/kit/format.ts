import { unitFormats } from '#core/translations/unit-formats.ts';

/** Formats sizes, numbers, times and lists in one language and in the reader's time zone. */
export interface Formats {
  /** `3.4 MB`. */
  size(bytes: number): string;
  /** `31 Mar 2026`. */
  day(instant: string): string;
  /** `Tuesday, 31 March 2026 at 17:00:00`. */
  exact(instant: string): string;
  /** `31 March 2026 at 17:00`. */
  moment(instant: string): string;
  /** The end of a validity period. Midnight in the reader's time zone counts as the end of the day before. */
  end(instant: string): { readonly moment: string; readonly endsWithDay: boolean };
  /** `2 min`: the approximate remaining time. */
  remaining(seconds: number): string;
  /** `view, download and upload`. */
  list(items: readonly string[]): string;
  number(value: number): string;
}

/** Returns the formats of a language. @param tag BCP 47 */
export function formatsFor(tag: string): Formats {
  const day = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric' });
  const exact = new Intl.DateTimeFormat(tag, { dateStyle: 'full', timeStyle: 'medium' });
  const moment = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'long', year: 'numeric', hour: 'numeric', minute: '2-digit' });
  const lastDay = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'long', year: 'numeric' });
  const list = new Intl.ListFormat(tag, { type: 'conjunction' });
  const number = new Intl.NumberFormat(tag);
  const { size, inUnit } = unitFormats(tag);
  return {
    size,
    day: (instant) => day.format(new Date(instant)),
    exact: (instant) => exact.format(new Date(instant)),
    moment: (instant) => moment.format(new Date(instant)),
    end(instant) {
      const end = new Date(instant);
      const endsWithDay = end.getHours() === 0 && end.getMinutes() === 0 && end.getSeconds() === 0;
      return { endsWithDay, moment: endsWithDay ? lastDay.format(end.getTime() - 1) : moment.format(end) };
    },
    remaining(seconds) {
      if (seconds >= 5400) return inUnit(Math.round(seconds / 3600), 'hour');
      return seconds >= 90 ? inUnit(Math.round(seconds / 60), 'minute') : inUnit(Math.max(1, Math.round(seconds)), 'second');
    },
    list: (items) => list.format(items),
    number: (value) => number.format(value),
  };
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Splits a name of more than 18 letters in two. The end is never cut off on the page: it distinguishes files with similar names. */
export function splitName(name: string): [string, string] {
  if (name.length <= 18) return [name, ''];
  const letters = Array.from(graphemes.segment(name), ({ segment }) => segment);
  if (letters.length <= 18) return [name, ''];
  const end = letters.slice(-10).join('').trimStart();
  return [name.slice(0, name.length - end.length), end];
}
