import Type, { type Static } from 'typebox';
import { bodyOf, count, freeText, limits, listOf, orNull, recordId } from './field.ts';

/** States of a mail to one recipient. `held`: it comes from a restored backup, and is sent only after `mail/retry`. */
export const deliveryStates = ['waiting', 'sending', 'sent', 'failed', 'dropped', 'held'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const mailKinds = ['alert', 'invitation', 'test', 'code'] as const;
export type MailKind = (typeof mailKinds)[number];

const time = (description: string) => Type.String({ format: 'date-time', description });

/** A mail to one recipient in responses. */
export const Delivery = Type.Object({
  id: recordId('Number of the mail.'),
  tid: recordId('Tenant.'),
  kind: Type.Enum([...mailKinds], { description: 'Kind of the mail.' }),
  shareId: orNull(recordId('Share that the mail is about.')),
  recipient: Type.String({ description: 'Address.' }),
  state: Type.Enum([...deliveryStates], {
    description: 'State. `held` mails come from a restored backup, and wait until they are retried or dropped.',
  }),
  attempts: count('Number of attempts so far.'),
  error: Type.String({ description: 'What went wrong at the last attempt; empty: nothing.' }),
  createDateTime: time('When the mail was created, or last retried with mail/retry.'),
  dueDateTime: time('When the next attempt is due, while the mail waits.'),
  endDateTime: orNull(time('When the mail was sent, given up or dropped.')),
});
export type Delivery = Static<typeof Delivery>;

/** Body of mail/retry and mail/drop: one mail, or all in a state. */
export const ChosenDeliveries = Type.Object(
  {
    id: Type.Optional(recordId('Mail.')),
    state: Type.Optional(
      Type.Enum(['failed', 'held', 'waiting'], {
        description: 'All mails of the tenant in this state, except codes, at most 10,000 in one call.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ChosenDeliveries = Static<typeof ChosenDeliveries>;

/** Body of mail/test. */
export const MailTest = bodyOf({ to: Type.String({ maxLength: limits.email, description: 'Address of the recipient.' }) }, ['to'], []);
export type MailTest = Static<typeof MailTest>;

/** Body of share/invite. */
export const Invitation = bodyOf(
  {
    id: recordId('Share.'),
    emails: listOf('Addresses, separated by commas. Absent or empty: the addresses of the users whom the share lists.'),
    message: freeText('Text of the sender, shown in the mail.'),
  },
  ['id'],
  ['emails', 'message'],
);
export type Invitation = Static<typeof Invitation>;
