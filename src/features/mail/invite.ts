import Type from 'typebox';
import { shareUrl } from '#core/link.ts';
import { parseList } from '#core/list-text.ts';
import { emailKey, parseEmail } from '#core/mail/email.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { count, limits } from '#core/records/field.ts';
import { listsUsersById, requiresSignIn } from '#core/records/login-profile.ts';
import { Invitation } from '#core/records/mail.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import type { Tx } from '#ports/store.ts';

const maxRecipients = 1000; // in one call

/** Returns the given addresses, each once. @throws Refusal 400 at emails */
function givenRecipients(text: string): string[] {
  const entries = parseList(normalizeText(text), limits.list);
  if (!entries) throw fieldRefusal('emails', 'has a quote that is not closed, or text behind a closing quote');
  const wrong = entries.find((entry) => parseEmail(entry) === null);
  if (wrong !== undefined) throw fieldRefusal('emails', `"${wrong}" is not an e-mail address`);
  return [...new Map(entries.map((entry) => [emailKey(entry), entry])).values()];
}

/** Returns the addresses of the users whom a share lists. */
async function listedRecipients(tx: Tx, tid: number, shareId: number, typeId: number): Promise<string[]> {
  const listed = tx.selectFrom('share_user').where('share_user.tid', '=', tid).where('share_user.share_id', '=', shareId);
  if (!listsUsersById(typeId)) {
    const rows = await listed
      .select('name')
      .orderBy('position')
      .limit(maxRecipients + 1)
      .execute();
    return rows.map(({ name }) => name).filter((name) => parseEmail(name) !== null);
  }
  const rows = await listed
    .innerJoin('access_user', (join) =>
      join.onRef('access_user.tid', '=', 'share_user.tid').onRef('access_user.id', '=', 'share_user.user_id'),
    )
    .select('access_user.email')
    .where('access_user.active', '=', 1)
    .orderBy('position')
    .limit(maxRecipients + 1)
    .execute();
  return rows.map(({ email }) => email).filter((email) => parseEmail(email) !== null);
}

export const inviteToShare = changeOperation({
  name: 'share/invite',
  method: 'POST',
  role: 'editor',
  summary: 'Mails the link of a share to the given addresses, or to the users whom the share lists.',
  message: 'shareInvited',
  body: Invitation,
  responseFields: Type.Object({ recipientCount: count('Number of mails.') }),
  target: { table: 'share' },
  async check(_body, _caller, { mail, store }) {
    if (!mail) throw new Refusal('mailNotConfigured');
    return { domain: mail.domain, language: mail.language, dialect: store.dialect };
  },
  async change({ id, emails, message }, { tid }, tx, { random, links }, { domain, language, dialect }) {
    const share = await tx
      .selectFrom('share')
      .innerJoin('login_profile', (join) =>
        join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
      )
      .select(['share.title', 'share.view_id', 'share.folder', 'share.valid_to', 'login_profile.type_id', 'login_profile.lang'])
      .where('share.tid', '=', tid)
      .where('share.id', '=', id)
      .executeTakeFirstOrThrow();
    const given = givenRecipients(emails ?? '');
    const recipients = given.length > 0 ? given : await listedRecipients(tx, tid, id, share.type_id);
    if (recipients.length === 0) throw fieldRefusal('emails', 'must name addresses: the share lists nobody with an e-mail address');
    if (recipients.length > maxRecipients) throw fieldRefusal('emails', `must be at most ${maxRecipients} addresses in one call`);
    const content = {
      ...{ shareTitle: share.title, viewUrl: shareUrl(links.publicUrl(), share.view_id), folder: share.folder === 1 },
      ...{ message: normalizeText(message ?? ''), validTo: share.valid_to, requiresSignIn: requiresSignIn(share.type_id) },
    };
    const mail = { kind: 'invitation', content } as const;
    const ports = { random, store: { dialect } };
    await addMail(ports, tx, { tid, shareId: id, mail, language: share.lang || language, recipients, domain });
    return {
      created: { recipientCount: recipients.length },
      audit: { after: { emails: recipients }, share: { id, title: share.title, viewId: share.view_id } },
    };
  },
});
