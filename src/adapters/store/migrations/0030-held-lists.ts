import type { Migration } from './migration.ts';

/** Adds a mark for mails of a restored backup. Deliveries that are added to such a mail wait for the consent of an operator. */
export const heldMails: Migration = {
  name: '0030-held-lists',
  statements: ({ integer }) => [`ALTER TABLE mail_content ADD COLUMN held ${integer} NOT NULL DEFAULT 0`],
};
