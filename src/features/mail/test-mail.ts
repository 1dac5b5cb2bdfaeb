import Type from 'typebox';
import { parseEmail } from '#core/mail/email.ts';
import { renderMail } from '#core/mail/mail-document.ts';
import { testMail } from '#core/mail/other-mails.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { MailTest } from '#core/records/mail.ts';
import { languageOf } from '#core/translations/languages.ts';
import { readOperation } from '#features/operation.ts';

const messageIdBits = 128;
const maxTime = 60_000; // ms

const MailTestResponse = Type.Object({
  works: Type.Boolean({ description: 'Whether the mail server has accepted the mail.' }),
  detail: Type.String({ description: 'Why the mail was not sent; empty: it was sent.' }),
});

export const sendTestMail = readOperation({
  name: 'mail/test',
  isTest: true,
  method: 'POST',
  role: 'admin',
  summary: 'Sends a test mail at once, and returns whether the mail server has accepted it.',
  body: MailTest,
  response: MailTestResponse,
  async read({ to }, _caller, { mail, random, clock }) {
    if (!mail) throw new Refusal('mailNotConfigured');
    const recipient = parseEmail(to);
    if (recipient === null) throw fieldRefusal('to', 'must be an e-mail address such as ann@example.com');
    const message = {
      ...{ to: recipient, ...renderMail(testMail(languageOf([mail.language]))) },
      ...{ messageId: `${random.token(messageIdBits)}@${mail.domain}`, date: clock.now() },
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
    try {
      await mail.send(message, 'tests', AbortSignal.timeout(maxTime));
      return { works: true, detail: '' };
    } catch (cause) {
      return { works: false, detail: cause instanceof Error ? cause.message : 'The mail could not be sent.' };
    }
  },
});
