import { normalizeText } from './unicode.ts';

/** Returns the form in which names are compared: Unicode NFC in lower case. */
export function fold(text: string): string {
  return normalizeText(text).toLowerCase();
}
