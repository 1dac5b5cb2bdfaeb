import { oncePerObject } from './once-per-object.ts';
import { normalizeText } from './unicode.ts';

/** Returns the form in which names are compared: Unicode NFC in lower case. */
export function fold(text: string): string {
  return normalizeText(text).toLowerCase();
}

/** Returns the folded forms of a list of names, computed once for each list: a session may have 1,000 groups of 250 characters. */
export const foldedNames: (names: readonly string[]) => ReadonlySet<string> = oncePerObject(
  (names: readonly string[]) => new Set(names.map(fold)),
);
