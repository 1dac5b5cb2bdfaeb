import type { Migration } from './migration.ts';

/** Stores lists of addresses in a table of their own, and not in each alert. Migration 0023 drops this table and both indexes again. */
export const alertLists: Migration = {
  name: '0008-alert-lists',
  statements: ({ integer, text }) => [
    `CREATE TABLE alert_list (tid ${integer} NOT NULL REFERENCES tenant(id), digest ${text} NOT NULL, emails ${text} NOT NULL, PRIMARY KEY (tid, digest))`,
    "INSERT INTO alert_list (tid, digest, emails) SELECT tid, 'alert ' || id, emails FROM alert",
    'ALTER TABLE alert RENAME COLUMN emails TO list',
    "UPDATE alert SET list = 'alert ' || id",
    'CREATE INDEX alert_audit ON alert(tid, audit_id)',
    'CREATE INDEX alert_by_list ON alert(tid, list)',
  ],
};
