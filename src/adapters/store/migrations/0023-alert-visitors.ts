import type { Migration } from './migration.ts';

/**
 * Stores the visitor in the alerts that are not collected yet. Later alerts get their visitor when they are enqueued.
 * Drops the lists of addresses: mails go to the addresses in the share. Enqueueing costs less with two indexes dropped, a third smaller.
 */
export const alertVisitors: Migration = {
  name: '0023-alert-visitors',
  statements: () => [
    `UPDATE alert SET visitor = coalesce(
      (SELECT coalesce(identity_key, 'address ' || address) FROM audit WHERE audit.tid = alert.tid AND audit.id = alert.audit_id), '')
      WHERE collected = 0`,
    'DROP INDEX alert_visitor',
    'CREATE INDEX alert_visitor ON alert(tid, share_id, visitor) WHERE collected = 1',
    'DROP INDEX alert_audit',
    'DROP INDEX alert_by_list',
    'ALTER TABLE alert DROP COLUMN list',
    'DROP TABLE alert_list',
  ],
};
