const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** `3.4 MB`. */
export function formatSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toLocaleString(undefined, { maximumFractionDigits: unit > 0 && value < 100 ? 1 : 0 })} ${units[unit]}`;
}

/** `1,234,567 bytes`. */
export const exactSize = (bytes: number) => `${bytes.toLocaleString()} bytes`;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const long = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric', hour: 'numeric', minute: '2-digit' });

/** `31 Mar 2026`. */
export const formatDay = (instant: string) => day.format(new Date(instant));
/** All of an instant, in the reader's own zone. */
export const exactInstant = (instant: string) => moment.format(new Date(instant));
const formatMoment = (instant: string) => long.format(new Date(instant));

const lastDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Until when something holds: an end at midnight, UTC, is the end of the day before. */
export function formatEnd(instant: string): string {
  const at = new Date(instant);
  return instant.endsWith('T00:00:00.000Z') ? `the end of ${lastDay.format(at.getTime() - 1)}` : formatMoment(instant);
}

/** `2 min`, `40 s`: roughly what is left. */
export function formatLeft(seconds: number): string {
  if (seconds >= 5400) return `${Math.round(seconds / 3600)} h`;
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.max(1, Math.round(seconds))} s`;
}

/** A name in two parts: the end, which tells files apart, is never cut. */
export function splitName(name: string): [string, string] {
  const letters = [...name];
  const kept = Math.min(letters.length, 10);
  return letters.length <= 18 ? [name, ''] : [letters.slice(0, -kept).join(''), letters.slice(-kept).join('')];
}
