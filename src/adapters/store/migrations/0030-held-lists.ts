import type { Migration } from './migration.ts';

/** Marks the mails of a restored backup. Their remaining deliveries wait for the consent of an operator. */
export const heldMails: Migration = {
  name: '0030-held-lists',
  statements: ({ integer }) => [`ALTER TABLE mail_content ADD COLUMN held ${integer} NOT NULL DEFAULT 0`],
};
