import { type CodeUse, codeMail } from '#core/mail/code-mail.ts';
import { emailKey, findAllowedEmail } from '#core/mail/email.ts';
import { languageOf } from '#core/translations/languages.ts';
import { readAllowedEmails } from '#features/links/allowed-emails.ts';
import type { CodeMails } from '#features/outbox/code-mails.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { findCodeRecipient } from './code-recipient.ts';

const purpose = 'sign-in code mail';

/** The content of a mail with a code, and the address for which a visitor has requested it. */
interface CodeMailContent {
  readonly tid: number;
  readonly profileId: number;
  /** The address as the visitor has entered it. */
  readonly email: string;
  readonly code: string;
  readonly pageUrl: string;
  /** Absent: an earlier version of Postern wrote this content, for a sign-in. */
  readonly use?: CodeUse;
}

export const sealCodeMail = (vault: Vault, content: CodeMailContent): string => vault.seal(purpose, JSON.stringify(content));

const openCodeMail = (vault: Vault, sealed: string): CodeMailContent => JSON.parse(vault.open(purpose, sealed));

/**
 * Returns for each code whether its address belongs to an access user of its login profile, active or not, or matches an entry of
 * that profile's list `allow`.
 */
async function findKnownAddresses(vault: Vault, db: Tx, codes: readonly CodeMailContent[]): Promise<readonly boolean[]> {
  const knownCodes = new Set<CodeMailContent>();
  for (const [profileId, profileCodes] of Map.groupBy(codes, (code) => code.profileId)) {
    const tid = profileCodes[0]?.tid ?? 0;
    const keys = profileCodes.map(({ email }) => emailKey(email));
    const users = await db
      .selectFrom('access_user')
      .select('email_key')
      .where('tid', '=', tid)
      .where('profile_id', '=', profileId)
      .where('email_key', 'in', keys)
      .execute();
    const userEmails = new Set(users.map(({ email_key }) => email_key));
    const allowedEmails = await readAllowedEmails(vault, db, { tid, profile_id: profileId });
    for (const code of profileCodes)
      if (userEmails.has(emailKey(code.email)) || findAllowedEmail(code.email, allowedEmails) !== null) knownCodes.add(code);
  }
  return codes.map((code) => knownCodes.has(code));
}

/** Returns the functions that the sender of mails needs to decrypt and check the mails with codes. */
export const emailCodeMails = ({ store, vault }: Pick<Ports, 'store' | 'vault'>): CodeMails => ({
  async open(sealed, language) {
    const { tid, profileId, email, code, pageUrl, use = 'signIn' } = openCodeMail(vault, sealed);
    const recipient = await findCodeRecipient(vault, store.read, { tid, profile_id: profileId }, email);
    if (!recipient) return null;
    const content = { use, code, pageUrl: `${pageUrl}#code=${code}`, userName: recipient.identity.name };
    return { to: recipient.email, mail: codeMail(content, languageOf([language])) };
  },
  areAddressesKnown: async (sealed) =>
    findKnownAddresses(
      vault,
      store.read,
      sealed.map((text) => openCodeMail(vault, text)),
    ),
});
