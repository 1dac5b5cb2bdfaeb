import type { Migration } from './migration.ts';

/**
 * Outgoing mail: its content, and one row for each recipient. Alerts name their visitor, so that the actions of one visitor are
 * collected in one mail.
 */
export const mail: Migration = {
  name: '0015-mail',
  statements: ({ integer, text, identity }) => [
    `CREATE TABLE mail_content (
      id ${identity}, tid ${integer} NOT NULL, kind ${text} NOT NULL, share_id ${integer}, language ${text} NOT NULL,
      data ${text} NOT NULL, pending ${text} NOT NULL, created_at ${integer} NOT NULL)`,
    "CREATE INDEX mail_content_pending ON mail_content(id) WHERE pending <> ''",
    'CREATE INDEX mail_content_share ON mail_content(tid, share_id, created_at)',
    `CREATE TABLE delivery (
      id ${identity}, tid ${integer} NOT NULL, lane ${text} NOT NULL, kind ${text} NOT NULL, content_id ${integer} NOT NULL,
      share_id ${integer}, recipient ${text} NOT NULL, recipient_key ${text} NOT NULL, message_id ${text} NOT NULL,
      state ${text} NOT NULL, attempts ${integer} NOT NULL, created_at ${integer} NOT NULL, due_at ${integer} NOT NULL,
      ended_at ${integer}, error ${text} NOT NULL)`,
    "CREATE INDEX delivery_due ON delivery(lane, tid, due_at) WHERE state = 'waiting'",
    "CREATE INDEX delivery_sending ON delivery(lane) WHERE state = 'sending'",
    'CREATE INDEX delivery_content ON delivery(content_id)',
    'CREATE INDEX delivery_tid ON delivery(tid, state, id)',
    `CREATE TABLE alert_digest (
      tid ${integer} NOT NULL, share_id ${integer} NOT NULL, visitor ${text} NOT NULL, due_at ${integer} NOT NULL,
      step ${integer} NOT NULL, PRIMARY KEY (tid, share_id, visitor))`,
    'CREATE INDEX alert_digest_due ON alert_digest(due_at)',
    `CREATE TABLE unsubscribed (
      tid ${integer} NOT NULL, share_id ${integer} NOT NULL, recipient_key ${text} NOT NULL, at ${integer} NOT NULL,
      PRIMARY KEY (tid, share_id, recipient_key))`,
    `ALTER TABLE alert ADD COLUMN visitor ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE alert ADD COLUMN collected ${integer} NOT NULL DEFAULT 0`,
    'CREATE INDEX alert_new ON alert(id) WHERE collected = 0',
    'CREATE INDEX alert_visitor ON alert(tid, share_id, visitor)',
  ],
};
