const dateOnly = /^\d{4}-\d{2}-\d{2}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** Length of a day in UTC, in milliseconds. */
export const millisecondsPerDay = 86_400_000;

// RFC 3339 writes years with four digits: an instant outside of this range could not be written in a response.
const earliest = Date.parse('0000-01-01T00:00:00Z');
export const latestInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Returns the day of an instant in UTC: `2026-01-31`. @param time ms since the epoch */
export const formatDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The instant that a date without a time stands for: the first instant of that day, or the first instant of the next day. */
export type DateOnlyMeaning = 'firstOfDay' | 'firstOfNextDay';

/**
 * Parses an ISO 8601 date-time or date. Without an offset it is in UTC.
 * @param meaning the instant that a date without a time stands for
 * @returns milliseconds since the epoch, or null if the text has another form, or names no existing instant of the years 0000 to 9999, such
 *   as 30 February
 */
export function parseInstant(text: string, meaning: DateOnlyMeaning): number | null {
  const instant = parseUnlimited(text, meaning);
  return instant !== null && instant >= earliest && instant <= latestInstant ? instant : null;
}

/** Parses the text without checking the range of years. */
function parseUnlimited(text: string, meaning: DateOnlyMeaning): number | null {
  try {
    if (dateOnly.test(text)) {
      const day = Temporal.PlainDate.from(text, { overflow: 'reject' });
      const first = meaning === 'firstOfDay' ? day : day.add({ days: 1 });
      return first.toZonedDateTime('UTC').epochMilliseconds;
    }
    const match = dateTime.exec(text);
    if (!match) return null;
    return Temporal.Instant.from(match[1] ? text : `${text}Z`).epochMilliseconds;
  } catch {
    return null;
  }
}

/** Formats an instant as RFC 3339 in UTC with milliseconds. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
