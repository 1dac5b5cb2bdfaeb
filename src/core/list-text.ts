/**
 * Reads a comma-separated list: entries trimmed, empty ones and duplicates dropped; an entry that holds a comma
 * stands in double quotes, an inner quote doubled (decisions.md, Fields).
 * @returns null where a quote is not closed, or something follows a closing quote.
 */
export function parseList(text: string): string[] | null {
  const entry = /\s*(?:"((?:[^"]|"")*)"|([^,"\s][^,]*)?)\s*(,|$)/y;
  const entries = new Set<string>();
  while (entry.lastIndex < text.length) {
    const found = entry.exec(text);
    if (!found) return null;
    const [, quoted, plain, end] = found;
    const value = (quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"')).trim();
    if (value !== '') entries.add(value);
    if (end === '') break;
  }
  return [...entries];
}

/** Writes a list so that parseList reads the same entries. */
export function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (/[",]/.test(entry) ? `"${entry.replaceAll('"', '""')}"` : entry)).join(', ');
}
