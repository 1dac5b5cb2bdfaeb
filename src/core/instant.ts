const dateAlone = /^\d{4}-\d{2}-\d{2}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** Which instant a date without a time stands for: its own first, or the next day's first (decisions.md, Fields). */
export type DateAlone = 'firstOfDay' | 'firstOfNextDay';

/**
 * Reads an ISO 8601 date-time or date; without an offset it is in UTC.
 * @returns milliseconds since the epoch, or null where the text names no instant that exists (30 February).
 */
export function parseInstant(text: string, meaning: DateAlone): number | null {
  try {
    if (dateAlone.test(text)) {
      const day = Temporal.PlainDate.from(text, { overflow: 'reject' });
      const first = meaning === 'firstOfDay' ? day : day.add({ days: 1 });
      return first.toZonedDateTime('UTC').epochMilliseconds;
    }
    const found = dateTime.exec(text);
    if (!found) return null;
    return Temporal.Instant.from(found[1] ? text : `${text}Z`).epochMilliseconds;
  } catch {
    return null;
  }
}

/** RFC 3339 in UTC with milliseconds. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
