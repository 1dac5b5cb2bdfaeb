import { normalizeText } from './unicode.ts';

/** The form in which two names count as the same: Unicode NFC, without regard to case. */
export function fold(text: string): string {
  return normalizeText(text).toLowerCase();
}
