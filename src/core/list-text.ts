/** An entry of a list, and the index of the comma or the end of the text after it. */
interface ParsedEntry {
  readonly value: string;
  readonly end: number;
}

function skipSpaces(text: string, start: number): number {
  let index = start;
  while (index < text.length && /\s/.test(text.charAt(index))) index += 1;
  return index;
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
 * Parses a comma-separated list. Trims entries, and drops empty ones and duplicates. An entry with a comma must be in
 * double quotes, with inner quotes doubled (decisions.md, Fields). Reads each character once: a regular expression took
 * seconds for 64 KiB of spaces.
 * @returns null if a quote is not closed, or if text follows a closing quote
 */
export function parseList(text: string): string[] | null {
  const entries = new Set<string>();
  for (let index = 0; index < text.length; index += 1) {
    const start = skipSpaces(text, index);
    const entry = text.charAt(start) === '"' ? parseQuotedEntry(text, start) : parsePlainEntry(text, start);
    if (!entry) return null;
    const value = entry.value.trim();
    if (value !== '') entries.add(value);
    index = entry.end;
  }
  return [...entries];
}

const quote = (entry: string) => `"${entry.replaceAll('"', '""')}"`;

/** Formats a list so that parseList returns the same entries. share-rows.ts does the same in SQL. */
export function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (/[",]/.test(entry) ? quote(entry) : entry)).join(', ');
}

/**
 * Returns the length of a list in its shortest spelling, in characters. Limits apply to this length: a list that was
 * accepted is accepted again after formatList has added spaces and quotes.
 */
export const listLength = (entries: readonly string[]) =>
  entries.reduce((sum, entry) => sum + 1 + (/^"|,/.test(entry) ? quote(entry) : entry).length, -1);
