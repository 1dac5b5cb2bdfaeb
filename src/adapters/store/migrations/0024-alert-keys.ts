import type { Migration } from './migration.ts';

const columns = 'tid, share_id, visitor, audit_id, action, created_at';

/**
 * Identifies an alert by its visitor and audit entry, and no longer marks it as collected. Enqueueing an alert then changes only one
 * index.
 */
export const alertKeys: Migration = {
  name: '0024-alert-keys',
  statements: ({ integer, text }) => [
    `CREATE TABLE keyed_alert (
      tid ${integer} NOT NULL, share_id ${integer} NOT NULL, visitor ${text} NOT NULL, audit_id ${integer} NOT NULL,
      action ${text} NOT NULL, created_at ${integer} NOT NULL, PRIMARY KEY (tid, share_id, visitor, audit_id))`,
    `INSERT INTO keyed_alert (${columns}) SELECT ${columns} FROM alert WHERE true ON CONFLICT DO NOTHING`,
    'DROP TABLE alert',
    'ALTER TABLE keyed_alert RENAME TO alert',
  ],
};
