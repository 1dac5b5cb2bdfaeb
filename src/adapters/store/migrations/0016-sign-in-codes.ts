import type { Migration } from './migration.ts';

/** Adds the codes with which visitors sign in by e-mail, and the turns in which mails are sent. */
export const signInCodes: Migration = {
  name: '0016-sign-in-codes',
  statements: ({ integer, text, tenantIdentity, tenantKey }) => [
    `CREATE TABLE sign_in_code (
      id ${tenantIdentity}, tid ${integer} NOT NULL, profile_id ${integer} NOT NULL, profile_epoch ${integer} NOT NULL,
      view_id ${text} NOT NULL, browser ${text} NOT NULL, mailbox_key ${text} NOT NULL, mac ${text} NOT NULL,
      attempts ${integer} NOT NULL, used ${integer} NOT NULL, created_at ${integer} NOT NULL,
      ${tenantKey})`,
    'CREATE INDEX sign_in_code_browser ON sign_in_code(tid, browser, view_id, id)',
    'CREATE INDEX sign_in_code_mailbox ON sign_in_code(tid, mailbox_key, created_at)',
    'CREATE INDEX sign_in_code_created ON sign_in_code(created_at)',
    `ALTER TABLE delivery ADD COLUMN turn ${text} NOT NULL DEFAULT ''`,
    "CREATE INDEX delivery_age ON delivery(lane, created_at) WHERE state = 'waiting'",
    "CREATE INDEX delivery_turn ON delivery(lane, tid, turn, due_at) WHERE state = 'waiting'",
  ],
};
