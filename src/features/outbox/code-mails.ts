import type { ComposedMail } from '#core/mail/mail-document.ts';

/** Opens the mails with codes, whose contents are encrypted. The kind of sign-in knows who may get a code. */
export interface CodeMails {
  /** Returns the mail and the address that it goes to; null: the address that a visitor has entered gets no code. */
  open(sealed: string, language: string): Promise<{ readonly to: string; readonly mail: ComposedMail } | null>;
  /** Returns for each mail whether the login profile knows the address. false: it gets no code; true: `open` decides. */
  areAddressesKnown(sealed: readonly string[]): Promise<readonly boolean[]>;
}
