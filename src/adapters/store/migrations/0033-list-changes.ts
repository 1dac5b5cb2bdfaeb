import type { ColumnTypes, Migration } from './migration.ts';
import { createTriggerStatements } from './trigger.ts';

/** Replaces the triggers of migration 0001 that increment the versions of the shares which list a deleted or moved user by id. */
function userTriggers(types: ColumnTypes) {
  const ofUser = 'tid = OLD.tid AND user_id = OLD.id';
  const countChanges = `INSERT INTO share_list_change (tid, share_id, changes)
    SELECT DISTINCT tid, share_id, 1 FROM share_user WHERE ${ofUser}
    ON CONFLICT (tid, share_id) DO UPDATE SET changes = share_list_change.changes + 1;`;
  const removeFromLists = `DELETE FROM share_user WHERE ${ofUser}; DELETE FROM visit_session WHERE ${ofUser};`;
  const drop = (name: string) =>
    types.engine === 'sqlite' ? [`DROP TRIGGER ${name}`] : [`DROP TRIGGER ${name} ON access_user`, `DROP FUNCTION ${name}_does()`];
  return [
    ...drop('access_user_deleted'),
    ...drop('access_user_moved'),
    ...createTriggerStatements(types, 'access_user_deleted', 'BEFORE DELETE ON access_user', countChanges),
    ...createTriggerStatements(
      types,
      'access_user_moved',
      'BEFORE UPDATE OF profile_id ON access_user',
      countChanges + removeFromLists,
      'OLD.profile_id <> NEW.profile_id',
    ),
  ];
}

/**
 * Indexes for the deletion of old mails, which otherwise reads all mails with their contents. A separate table counts the users who are
 * removed from the list of a share: incrementing the versions of thousands of shares with long texts took seconds.
 */
export const listChanges: Migration = {
  name: '0033-list-changes',
  statements: (types) => [
    'CREATE INDEX mail_content_age ON mail_content(created_at)',
    'CREATE INDEX delivery_ended ON delivery(ended_at) WHERE ended_at IS NOT NULL',
    `CREATE TABLE share_list_change (
      tid ${types.integer} NOT NULL, share_id ${types.integer} NOT NULL, changes ${types.integer} NOT NULL,
      PRIMARY KEY (tid, share_id), FOREIGN KEY (tid, share_id) REFERENCES share(tid, id) ON DELETE CASCADE)`,
    ...userTriggers(types),
  ],
};
