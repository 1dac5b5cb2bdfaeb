/** An entry of a list, and where it ends: the index of the comma after it, or the length of the text. */
interface ParsedEntry {
  readonly value: string;
  readonly end: number;
}

const isAscii = (code: number) => code < 128;
const isAsciiSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);

function skipSpaces(text: string, start: number): number {
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isAscii(code) ? !isAsciiSpace(code) : !/\s/.test(text.charAt(index))) return index;
  }
  return text.length;
}

/** Parses an entry that begins with a quote. @returns null if the quote is not closed, or is followed by more text */
function parseQuotedEntry(text: string, start: number): ParsedEntry | null {
  let close = text.indexOf('"', start + 1);
  while (close >= 0 && text.charAt(close + 1) === '"') close = text.indexOf('"', close + 2);
  if (close < 0) return null;
  const end = skipSpaces(text, close + 1);
  if (end < text.length && text.charAt(end) !== ',') return null;
  return { value: text.slice(start + 1, close).replaceAll('""', '"'), end };
}

function parsePlainEntry(text: string, start: number): ParsedEntry {
  const comma = text.indexOf(',', start);
  const end = comma < 0 ? text.length : comma;
  return { value: text.slice(start, end), end };
}

/**
 * Parses a comma-separated list. Trims entries, and drops empty ones and duplicates. An entry that contains a comma or begins with a quote
 * must be in double quotes, with inner quotes doubled. The time is proportional to the length: a regular expression took seconds for 64 KiB
 * of spaces.
 * @param maxLength characters of the list in its shortest spelling (`listLength`), after which parsing stops: a list
 *   that is refused costs no more than one that is accepted
 * @returns null if a quote is not closed, or if text follows a closing quote; a list longer than `maxLength` is cut off
 *   after the entry that exceeds it
 */
export function parseList(text: string, maxLength = Number.POSITIVE_INFINITY): string[] | null {
  const entries = new Set<string>();
  let length = -1;
  for (let index = 0; index < text.length && length <= maxLength; index += 1) {
    const start = skipSpaces(text, index);
    const entry = text.charAt(start) === '"' ? parseQuotedEntry(text, start) : parsePlainEntry(text, start);
    if (!entry) return null;
    const value = entry.value.trim();
    if (value !== '' && !entries.has(value)) {
      entries.add(value);
      length += lengthInList(value);
    }
    index = entry.end;
  }
  return [...entries];
}

const quote = (entry: string) => `"${entry.replaceAll('"', '""')}"`;

/** Formats a list so that parseList returns the same entries. share-rows.ts does the same in SQL. */
export function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (/[",]/.test(entry) ? quote(entry) : entry)).join(', ');
}

/** Returns how many characters an entry takes in the shortest spelling of a list, its comma included. */
const lengthInList = (entry: string) => 1 + (entry.startsWith('"') || entry.includes(',') ? quote(entry).length : entry.length);

/**
 * Returns the length of a list in its shortest spelling, in characters. Limits apply to this length: a list that was
 * accepted is accepted again after formatList has added spaces and quotes.
 */
export const listLength = (entries: readonly string[]) => entries.reduce((sum, entry) => sum + lengthInList(entry), -1);
