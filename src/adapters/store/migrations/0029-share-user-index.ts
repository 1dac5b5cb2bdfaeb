import type { Migration } from './migration.ts';

/**
 * Extends the index of the shares that list a user, so that a link finds whether it lists a user without reading all shares of that user.
 */
export const shareUserIndex: Migration = {
  name: '0029-share-user-index',
  statements: () => [
    'CREATE INDEX share_user_share ON share_user(tid, user_id, share_id) WHERE user_id IS NOT NULL',
    'DROP INDEX share_user_user',
  ],
};
