/** An entry of a list, and the index of the comma or the end behind it. */
interface ReadEntry {
  readonly value: string;
  readonly end: number;
}

function skipSpaces(text: string, start: number): number {
  let index = start;
  while (index < text.length && /\s/.test(text.charAt(index))) index += 1;
  return index;
}

/** Reads an entry that begins with a quote; null where the quote is not closed, or something follows it. */
function quotedEntry(text: string, start: number): ReadEntry | null {
  let close = text.indexOf('"', start + 1);
  while (close >= 0 && text.charAt(close + 1) === '"') close = text.indexOf('"', close + 2);
  if (close < 0) return null;
  const end = skipSpaces(text, close + 1);
  if (end < text.length && text.charAt(end) !== ',') return null;
  return { value: text.slice(start + 1, close).replaceAll('""', '"'), end };
}

function plainEntry(text: string, start: number): ReadEntry {
  const comma = text.indexOf(',', start);
  const end = comma < 0 ? text.length : comma;
  return { value: text.slice(start, end), end };
}

/**
 * Reads a comma-separated list: entries trimmed, empty ones and duplicates dropped; an entry that holds a comma
 * stands in double quotes, an inner quote doubled (decisions.md, Fields). Looks at each character once: a regular
 * expression took seconds for 64 KiB of spaces.
 * @returns null where a quote is not closed, or something follows a closing quote.
 */
export function parseList(text: string): string[] | null {
  const entries = new Set<string>();
  for (let index = 0; index < text.length; index += 1) {
    const start = skipSpaces(text, index);
    const entry = text.charAt(start) === '"' ? quotedEntry(text, start) : plainEntry(text, start);
    if (!entry) return null;
    const value = entry.value.trim();
    if (value !== '') entries.add(value);
    index = entry.end;
  }
  return [...entries];
}

const quoted = (entry: string) => `"${entry.replaceAll('"', '""')}"`;

/** Writes a list so that parseList reads the same entries; share-rows.ts writes the same in SQL. */
export function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (/[",]/.test(entry) ? quoted(entry) : entry)).join(', ');
}

/** How long a list is in its shortest spelling: what was sent within a limit is within it as it is answered, too. */
export const listLength = (entries: readonly string[]) =>
  entries.reduce((sum, entry) => sum + 1 + (/^"|,/.test(entry) ? quoted(entry) : entry).length, -1);
