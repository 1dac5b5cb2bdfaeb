import { wellFormedTag } from '#core/translations/languages.ts';
import { formatsFor } from '#kit/format.ts';

const tag = wellFormedTag(navigator.languages);

/** As the operator's browser writes dates and numbers; the words of the console are English. */
export const formats = formatsFor(tag);
const english = new Intl.NumberFormat('en');

const utcDay = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A day as the server counts it, in UTC. @param date `2026-01-31` */
export const formatDay = (date: string) => utcDay.format(new Date(`${date}T00:00:00Z`));

export const formatNumber = (value: number) => english.format(value);

/** What records are called: one of them, and several. */
export type Noun = readonly [one: string, many: string];

/** `1 share`, `12 shares`. */
export const formatCount = (value: number, one: string, many: string) => `${formatNumber(value)} ${value === 1 ? one : many}`;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const steps = [
  [60_000, 'second', 1000],
  [3_600_000, 'minute', 60_000],
  [86_400_000, 'hour', 3_600_000],
  [30 * 86_400_000, 'day', 86_400_000],
] as const;

/** `3 days ago`; further away than a month: the day. */
export function formatRelative(instant: string, now: number): string {
  const gone = new Date(instant).getTime() - now;
  const step = steps.find(([below]) => Math.abs(gone) < below);
  return step ? relative.format(Math.round(gone / step[2]), step[1]) : formats.day(instant);
}
