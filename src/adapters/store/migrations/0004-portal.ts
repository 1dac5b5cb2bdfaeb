import type { Migration } from './migration.ts';

/** Adds the index for a portal: it lists the shares of its login profile in the order of their titles. */
export const portalIndex: Migration = {
  name: '0004-portal',
  statements: () => ['CREATE INDEX share_portal ON share(tid, profile_id, title, id)'],
};
