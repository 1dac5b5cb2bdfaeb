import type { Generated } from 'kysely';
import type { MailKind } from '#core/records/mail.ts';
import type { MailLane } from './mail.ts';

/** The content of a mail, which all its deliveries share. */
export interface MailContentTable {
  id: Generated<number>;
  tid: number;
  kind: MailKind;
  share_id: number | null;
  language: string;
  /** JSON, by kind (features/outbox/mail-content.ts). */
  data: string;
  /** Recipients who have no delivery yet, as a list (core/list-text.ts); empty if there are none. */
  pending: string;
  /** 1: the deliveries to `pending` are added in the state `held`. */
  held: Generated<number>;
  created_at: number;
}

/** A mail to one recipient. Its times come from the clock of the database, in ms since the epoch. */
export interface DeliveryTable {
  id: Generated<number>;
  tid: number;
  lane: MailLane;
  kind: MailKind;
  content_id: number;
  /** Mails with the same value share one turn within their tenant: those with the same content, or the codes of one wide network. */
  turn: Generated<string>;
  share_id: number | null;
  /** Empty for a code until the first attempt to send it, which looks up the address. */
  recipient: string;
  /** The same for all spellings of an address. */
  recipient_key: string;
  message_id: string;
  /** `held`: it was restored from a backup, and waits for `mail/retry` or `mail/drop`. */
  state: 'waiting' | 'sending' | 'sent' | 'failed' | 'dropped' | 'held';
  attempts: number;
  created_at: number;
  due_at: number;
  ended_at: number | null;
  /** The last failure, in words; empty: none. */
  error: string;
}

/** The next mail with alerts about a visitor of a share: alerts are collected until it is due. */
export interface AlertDigestTable {
  tid: number;
  share_id: number;
  visitor: string;
  due_at: number;
  /** Index in `digestPauses` (features/mail/collect-alerts.ts) of the pause before this mail. */
  step: number;
}

/** A recipient who wants no more alerts about a share. */
export interface UnsubscriptionTable {
  tid: number;
  share_id: number;
  recipient_key: string;
  at: number;
}

/**
 * A code that a visitor has requested to sign in or to set a new password. Rows stay for an hour, since a mailbox gets
 * a limited number of codes an hour.
 */
export interface SignInCodeTable {
  id: Generated<number>;
  tid: number;
  profile_id: number;
  profile_epoch: number;
  /** The viewId of the link or portal where the code was requested. The code is valid only there. */
  view_id: string;
  /** Hash of the cookie of the browser that requested the code. */
  browser: string;
  /** The same for all sub-addresses of a mailbox. */
  mailbox_key: string;
  /** Keyed hash of the code with the address, the browser and the link. */
  mac: string;
  /** Number of attempts to enter the code. */
  attempts: number;
  used: number;
  created_at: number;
}
