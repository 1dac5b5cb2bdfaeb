import type { Migration } from './migration.ts';

const count = (table: string) => `(SELECT count(*) FROM ${table} AS listed WHERE listed.tid = share.tid AND listed.share_id = share.id)`;

/**
 * Adds the number of names that a share lists: long lists are read outside the event loop. The number is only a hint: a
 * deleted or moved user is removed from the lists, but the number stays.
 */
export const listedNameCounts: Migration = {
  name: '0005-long-lists',
  statements: ({ engine, integer }) => {
    const countAll = `UPDATE share SET listed_names = ${count('share_user')} + ${count('share_group')} WHERE allow_all_users = 0`;
    return [
      `ALTER TABLE share ADD COLUMN listed_names ${integer} NOT NULL DEFAULT 0`,
      // Disables the trigger that counts the shares of a login profile. PostgreSQL keeps every version of a row until the end of a
      // transaction, so updating these counts once for each share would take hours.
      ...(engine === 'sqlite'
        ? [countAll]
        : ['ALTER TABLE share DISABLE TRIGGER share_changes', countAll, 'ALTER TABLE share ENABLE TRIGGER share_changes']),
    ];
  },
};
