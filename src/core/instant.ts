const dateAlone = /^\d{4}-\d{2}-\d{2}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** Length of a day in UTC; ms. */
export const day = 86_400_000;

// RFC 3339 writes years of four digits: what is taken can be answered.
const earliest = Date.parse('0000-01-01T00:00:00Z');
export const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Which instant a date without a time stands for: its own first, or the next day's first (decisions.md, Fields). */
export type DateAlone = 'firstOfDay' | 'firstOfNextDay';

/**
 * Reads an ISO 8601 date-time or date; without an offset it is in UTC.
 * @returns milliseconds since the epoch, or null where the text names no instant that exists (30 February).
 */
export function parseInstant(text: string, meaning: DateAlone): number | null {
  const found = read(text, meaning);
  return found !== null && found >= earliest && found <= latest ? found : null;
}

function read(text: string, meaning: DateAlone): number | null {
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
