import type { Migration } from './migration.ts';

/** Indexes for the deletion of old mails, which otherwise reads all mails with their contents. */
export const expiryIndexes: Migration = {
  name: '0033-expiry-indexes',
  statements: () => [
    'CREATE INDEX mail_content_age ON mail_content(created_at)',
    'CREATE INDEX delivery_ended ON delivery(ended_at) WHERE ended_at IS NOT NULL',
  ],
};
