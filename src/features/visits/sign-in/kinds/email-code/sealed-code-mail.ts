import { codeMail } from '#core/mail/code-mail.ts';
import { languageOf } from '#core/translations/languages.ts';
import type { OpenCodeMail } from '#features/outbox/open-code-mail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Vault } from '#ports/vault.ts';
import { findCodeRecipient } from './code-recipient.ts';

const purpose = 'sign-in code mail';

/** What the mail with a code says, and to whom it may go. */
interface SealedCode {
  readonly tid: number;
  readonly profileId: number;
  /** The address as the visitor has entered it. */
  readonly email: string;
  readonly code: string;
  readonly pageUrl: string;
}

/** Encrypts what the mail with a code says. */
export const sealCodeMail = (vault: Vault, content: SealedCode): string => vault.seal(purpose, JSON.stringify(content));

/** Returns a function that opens the mails with codes, for the sender. */
export const codeMailOpener =
  ({ store, vault }: Pick<Ports, 'store' | 'vault'>): OpenCodeMail =>
  async (sealed, language) => {
    const { tid, profileId, email, code, pageUrl }: SealedCode = JSON.parse(vault.open(purpose, sealed));
    const recipient = await findCodeRecipient(vault, store.read, { tid, profile_id: profileId }, email);
    return recipient && { to: recipient.email, mail: codeMail(code, `${pageUrl}#code=${code}`, languageOf([language])) };
  };
