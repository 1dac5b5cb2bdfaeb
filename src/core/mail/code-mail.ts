import { codeLifetime, spacedCode } from '#core/sign-in-codes.ts';
import type { Language } from '#core/translations/languages.ts';
import { allMailMessages } from '#core/translations/mail/all-mail-messages.ts';
import { createTranslate } from '#core/translations/translate.ts';
import type { ComposedMail } from './mail-document.ts';

/** Returns the mail with a sign-in code. @param pageUrl address of the link with the code behind `#` */
export function codeMail(code: string, pageUrl: string, language: Language): ComposedMail {
  const translate = createTranslate(allMailMessages[language], language);
  return {
    subject: translate('codeSubject', { code: spacedCode(code) }),
    document: {
      language,
      title: translate('codeIntro'),
      blocks: [
        { kind: 'code', text: spacedCode(code) },
        { kind: 'text', text: translate('codeValidity', { count: codeLifetime / 60_000 }) },
        { kind: 'button', link: { label: translate('openPage'), url: pageUrl } },
      ],
      footer: { text: translate('codeReason') },
    },
  };
}
