import { sql } from 'kysely';
import Type from 'typebox';
import { Refusal } from '#core/messages.ts';
import { count } from '#core/records/field.ts';
import { Invitation } from '#core/records/mail.ts';
import { changeOperation } from '#features/operation.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import type { Store } from '#ports/store.ts';
import { findInvitation, maxRecipients } from './invitation.ts';

const maxWaitingInvitations = 20_000; // of a tenant

/** Checks that not too many invitations of a tenant are waiting. @throws Refusal (503) */
async function checkWaitingInvitations({ reports }: Pick<Store, 'reports'>, tid: number): Promise<void> {
  // Counted on the connection for reports: thousands may wait, and counting them would block the event loop.
  const waiting = reports
    .selectFrom('delivery')
    .select(sql<number>`count(*)`.as('count'))
    .where('tid', '=', tid)
    .where('state', '=', 'waiting')
    .where('kind', '=', 'invitation');
  // The deliveries of a mail to many recipients are added in parts. Until all exist, the mail counts as `maxRecipients` more deliveries.
  const pending = reports
    .selectFrom('mail_content')
    .select(sql<number>`count(*)`.as('count'))
    .where('tid', '=', tid)
    .where('pending', '<>', '');
  const [mails, pendingMails] = [await waiting.executeTakeFirstOrThrow(), await pending.executeTakeFirstOrThrow()];
  if (mails.count + pendingMails.count * maxRecipients >= maxWaitingInvitations)
    throw new Refusal('mailsWaiting', undefined, { retryAfter: 60 });
}

export const inviteToShare = changeOperation({
  name: 'share/invite',
  method: 'POST',
  role: 'editor',
  summary: 'Sends the link of a share by e-mail to the given addresses, or to the users whom the share lists.',
  message: 'shareInvited',
  body: Invitation,
  responseFields: Type.Object({ recipientCount: count('Number of mails.') }),
  target: { table: 'share' },
  async check(_body, { tid }, { mail, store }) {
    if (!mail) throw new Refusal('mailNotConfigured');
    await checkWaitingInvitations(store, tid);
    return { domain: mail.domain, language: mail.language, dialect: store.dialect };
  },
  async change(body, { tid }, tx, { random, links }, { domain, language: defaultLanguage, dialect }) {
    const invitation = await findInvitation(tx, links, tid, body, defaultLanguage);
    if (!invitation) throw new Refusal('recordUnknown');
    const { share, recipients, content, language } = invitation;
    const mail = { kind: 'invitation', content } as const;
    await addMail({ random, store: { dialect } }, tx, { tid, shareId: body.id, mail, language, recipients, domain });
    return {
      created: { recipientCount: recipients.length },
      audit: { after: { emails: recipients }, share: { id: body.id, title: share.title, viewId: share.view_id } },
    };
  },
});
