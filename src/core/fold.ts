/** The form in which two names count as the same: Unicode NFC, without regard to case. */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
