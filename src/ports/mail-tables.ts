import type { Generated } from 'kysely';

/** What the deliveries of one mail say. */
export interface MailContentTable {
  id: Generated<number>;
  tid: number;
  kind: 'alert' | 'invitation' | 'test';
  share_id: number | null;
  language: string;
  /** JSON, by kind (features/mail/mail-content.ts). */
  data: string;
  /** Recipients who have no delivery yet, as a list text: a list may have thousands. */
  pending: string;
  created_at: number;
}

/** A mail to one recipient. Its times are the database's, in ms since the epoch. */
export interface DeliveryTable {
  id: Generated<number>;
  tid: number;
  lane: 'alerts' | 'codes';
  kind: 'alert' | 'invitation' | 'test';
  content_id: number;
  share_id: number | null;
  recipient: string;
  /** The same for two spellings of an address. */
  recipient_key: string;
  message_id: string;
  /** `held`: it was restored from a backup, and waits for the consent of an operator. */
  state: 'waiting' | 'sending' | 'sent' | 'failed' | 'dropped' | 'held';
  attempts: number;
  created_at: number;
  due_at: number;
  ended_at: number | null;
  /** The last failure, in words; empty: none. */
  error: string;
}

/** The next alert about a visitor at a share: their actions are collected until it is due. */
export interface AlertDigestTable {
  tid: number;
  share_id: number;
  visitor: string;
  due_at: number;
  /** Number of mails since the visitor began. */
  step: number;
}

/** A recipient who wants no more alerts about a share. */
export interface UnsubscribedTable {
  tid: number;
  share_id: number;
  recipient_key: string;
  at: number;
}
