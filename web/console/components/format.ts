import { wellFormedTag } from '#core/translations/languages.ts';
import { formatsFor } from '#kit/format.ts';

const tag = wellFormedTag(navigator.languages);

/** Formats dates and numbers in the browser's language. */
export const formats = formatsFor(tag);

/** Returns a text for the end of a validity period: `until the end of 31 March 2027`, or `until` and a moment within a day. */
export function untilText(instant: string): string {
  const { moment, endsWithDay } = formats.end(instant);
  return `until ${endsWithDay ? 'the end of ' : ''}${moment}`;
}

const english = new Intl.NumberFormat('en');

const utcDay = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** Formats a UTC day. @param date `2026-01-31` */
export const formatDay = (date: string) => utcDay.format(new Date(`${date}T00:00:00Z`));

/** Formats a number as in English texts: `1,234`. */
export const formatNumber = (value: number) => english.format(value);

/** The singular and plural name of a kind of record. */
export type Noun = readonly [one: string, many: string];

/** Returns a number with its noun: `1 share`, `12 shares`. */
export const formatCount = (value: number, one: string, many: string) => `${formatNumber(value)} ${value === 1 ? one : many}`;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const steps = [
  [60_000, 'second', 1000],
  [3_600_000, 'minute', 60_000],
  [86_400_000, 'hour', 3_600_000],
  [30 * 86_400_000, 'day', 86_400_000],
] as const;

/** Returns a time relative to now, such as `3 days ago`, or the day if it is 30 days or more away. @param now ms since the epoch */
export function formatRelative(instant: string, now: number): string {
  const difference = new Date(instant).getTime() - now;
  const step = steps.find(([below]) => Math.abs(difference) < below);
  return step ? relative.format(Math.round(difference / step[2]), step[1]) : formats.day(instant);
}
