import type { Migration } from './migration.ts';

/**
 * Adds the share to the index of listed users. A request to a link can then look up one user of one share, without reading all shares
 * that list the user.
 */
export const shareUserIndex: Migration = {
  name: '0029-share-user-index',
  statements: () => [
    'CREATE INDEX share_user_share ON share_user(tid, user_id, share_id) WHERE user_id IS NOT NULL',
    'DROP INDEX share_user_user',
  ],
};
