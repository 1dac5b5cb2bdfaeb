import { type AlertContent, alertMail } from '#core/mail/alert-mail.ts';
import type { ComposedMail } from '#core/mail/mail-document.ts';
import { type InvitationContent, invitationMail, testMail } from '#core/mail/other-mails.ts';
import { languageOf } from '#core/translations/languages.ts';

/** The content of a mail, by its kind. It is stored as JSON once for all recipients. */
export type MailContent =
  | { readonly kind: 'alert'; readonly content: AlertContent }
  | { readonly kind: 'invitation'; readonly content: InvitationContent }
  | { readonly kind: 'test'; readonly content: Record<string, never> }
  /** Encrypted, because it contains the code. */
  | { readonly kind: 'code'; readonly content: { readonly sealed: string } };

/** Returns the stored content of a mail. Postern wrote it, so its form is not checked again. */
export const readContent = (kind: MailContent['kind'], data: string): MailContent => ({ kind, content: JSON.parse(data) });

/** Returns the encrypted content of a stored mail with a code. */
export const readSealedCode = (data: string): string => JSON.parse(data).sealed;

/** Returns a mail, which is the same for all its recipients except for the link in its footer. @param timeZone IANA name */
export function composeMail(mail: Exclude<MailContent, { readonly kind: 'code' }>, storedLanguage: string, timeZone: string): ComposedMail {
  const language = languageOf([storedLanguage]);
  switch (mail.kind) {
    case 'alert':
      return alertMail(mail.content, language, timeZone);
    case 'invitation':
      return invitationMail(mail.content, language, timeZone);
    case 'test':
      return testMail(language);
  }
}
