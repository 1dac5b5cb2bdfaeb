import type { Language } from '#core/translations/languages.ts';
import { allMailMessages } from '#core/translations/mail/all-mail-messages.ts';
import { createTranslate } from '#core/translations/translate.ts';
import { type ComposedMail, oneLine } from './mail-document.ts';
import { createFormats } from './mail-formats.ts';

export interface InvitationContent {
  readonly shareTitle: string;
  readonly viewUrl: string;
  readonly folder: boolean;
  /** Text of the sender, or empty. */
  readonly message: string;
  /** End of the validity, ms since the epoch; null: none. */
  readonly validTo: number | null;
  readonly requiresSignIn: boolean;
}

/** Returns the mail that invites somebody to a share. */
export function invitationMail(content: InvitationContent, language: Language, timeZone: string): ComposedMail {
  const { shareTitle, viewUrl, folder, message, validTo, requiresSignIn } = content;
  const translate = createTranslate(allMailMessages[language], language);
  const share = oneLine(shareTitle);
  return {
    subject: translate('invitationSubject', { share }),
    document: {
      language,
      title: translate(folder ? 'invitationFolder' : 'invitationFile', { share }),
      blocks: [
        ...(message === '' ? [] : [{ kind: 'quote', label: translate('message'), text: message } as const]),
        { kind: 'button', link: { label: translate('openLink'), url: viewUrl } },
        ...(requiresSignIn ? [{ kind: 'text', text: translate('signInNeeded') } as const] : []),
        ...(validTo === null
          ? []
          : [{ kind: 'text', text: translate('validUntil', { moment: createFormats(language, timeZone).time(validTo) }) } as const]),
      ],
      footer: { text: translate('invitationReason') },
    },
  };
}

/** Returns the mail by which an operator tests the mail settings. */
export function testMail(language: Language): ComposedMail {
  const translate = createTranslate(allMailMessages[language], language);
  return {
    subject: translate('testSubject'),
    document: {
      language,
      title: translate('testSubject'),
      blocks: [{ kind: 'text', text: translate('testText') }],
      footer: { text: 'Postern' },
    },
  };
}
