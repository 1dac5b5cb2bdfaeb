import type { Migration } from './migration.ts';

/**
 * Indexes of the names that shares list, so that a portal finds the shares of a visitor with many groups. Listed users with a user_id
 * are found by this id instead.
 */
export const listedNameIndexes: Migration = {
  name: '0025-listed-names',
  statements: () => [
    'CREATE INDEX share_group_name ON share_group(tid, name_key, share_id)',
    'CREATE INDEX share_user_name ON share_user(tid, name_key, share_id) WHERE user_id IS NULL',
  ],
};
