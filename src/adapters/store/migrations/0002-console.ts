import type { Migration } from './migration.ts';

/**
 * Adds the accounts of the console with their sessions and invitations, and an index of the shares by the time at which they expire.
 * The accounts are few and, like API keys, are searched before the tenant is known: so their primary keys do not contain the tenant.
 */
export const consoleAccounts: Migration = {
  name: '0002-console',
  statements: ({ identity, integer: int, text }) => [
    `CREATE TABLE operator (
      id ${identity}, tid ${int} NOT NULL REFERENCES tenant(id), version ${int} NOT NULL, name ${text} NOT NULL, name_key ${text} NOT NULL,
      role ${text} NOT NULL, password_hash ${text} NOT NULL, session_epoch ${int} NOT NULL, last_sign_in_at ${int},
      created_owner ${text} NOT NULL, updated_owner ${text} NOT NULL, created_at ${int} NOT NULL, updated_at ${int} NOT NULL,
      UNIQUE (tid, name_key))`,
    `CREATE TABLE operator_session (
      hash ${text} PRIMARY KEY, operator_id ${int} NOT NULL REFERENCES operator(id) ON DELETE CASCADE, operator_epoch ${int} NOT NULL,
      created_at ${int} NOT NULL, used_at ${int} NOT NULL)`,
    'CREATE INDEX operator_session_operator ON operator_session(operator_id)',
    'CREATE INDEX operator_session_age ON operator_session(created_at)',
    `CREATE TABLE console_invitation (hash ${text} PRIMARY KEY, expires_at ${int} NOT NULL)`,
    'CREATE INDEX share_ends ON share(tid, valid_to) WHERE valid_to IS NOT NULL',
  ],
};
