import Type from 'typebox';
import { renderMail } from '#core/mail/mail-document.ts';
import { invitationMail } from '#core/mail/other-mails.ts';
import { Refusal } from '#core/messages.ts';
import { count } from '#core/records/field.ts';
import { Invitation } from '#core/records/mail.ts';
import { languageOf } from '#core/translations/languages.ts';
import { readOperation } from '#features/operation.ts';
import { findInvitation } from './invitation.ts';

const InvitationPreview = Type.Object({
  recipientCount: count('Number of mails that share/invite would send.'),
  subject: Type.String({ description: 'Subject of the mail.' }),
  text: Type.String({ description: 'The mail as plain text.' }),
  html: Type.String({ description: 'The mail as HTML, without external resources.' }),
});

export const previewInvitation = readOperation({
  name: 'share/previewInvitation',
  method: 'POST',
  role: 'editor',
  summary: 'Returns the mail that share/invite would send. Sends nothing.',
  body: Invitation,
  response: InvitationPreview,
  async read(body, { tid }, { store, links, mail }) {
    if (!mail) throw new Refusal('mailNotConfigured');
    const invitation = await findInvitation(store.read, links, tid, body, mail.language);
    if (!invitation) throw new Refusal('recordUnknown');
    const { recipients, content, language } = invitation;
    return { recipientCount: recipients.length, ...renderMail(invitationMail(content, languageOf([language]), mail.timeZone)) };
  },
});
