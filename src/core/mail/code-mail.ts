import { codeLifetime, spacedCode } from '#core/sign-in-codes.ts';
import type { Language } from '#core/translations/languages.ts';
import { allMailMessages } from '#core/translations/mail/all-mail-messages.ts';
import { createTranslate } from '#core/translations/translate.ts';
import type { ComposedMail } from './mail-document.ts';

/** What a code is for. */
export type CodeUse = 'signIn' | 'newPassword';

export interface CodeContent {
  readonly use: CodeUse;
  readonly code: string;
  /** Address of the page on which the code is entered, with the code after `#`. */
  readonly pageUrl: string;
  /** For a new password: the name that the visitor signs in with, which they may have forgotten too. */
  readonly userName: string;
}

export function codeMail({ use, code, pageUrl, userName }: CodeContent, language: Language): ComposedMail {
  const translate = createTranslate(allMailMessages[language], language);
  const isSignIn = use === 'signIn';
  return {
    subject: translate(isSignIn ? 'codeSubject' : 'passwordCodeSubject', { code: spacedCode(code, language) }),
    document: {
      language,
      title: translate(isSignIn ? 'codeIntro' : 'passwordCodeIntro'),
      blocks: [
        { kind: 'code', text: spacedCode(code, language) },
        { kind: 'text', text: translate('codeValidity', { count: codeLifetime / 60_000 }) },
        ...(isSignIn ? [] : [{ kind: 'text', text: translate('passwordCodeName', { name: userName }) } as const]),
        { kind: 'button', link: { label: translate('openPage'), url: pageUrl } },
      ],
      footer: { text: translate('codeReason') },
    },
  };
}
