import type { ComposedMail } from '#core/mail/mail-document.ts';

/**
 * Opens a mail with a sign-in code. The kind of sign-in provides this function: it knows who may get a code.
 * @param sealed encrypted content of the mail
 * @returns the mail and the address that it goes to; null: the address that a visitor has entered gets no code
 */
export type OpenCodeMail = (sealed: string, language: string) => Promise<{ readonly to: string; readonly mail: ComposedMail } | null>;
