import type { Migration } from './migration.ts';

/** Adds indexes for the filters and orders of the console's lists, so that counts and pages are fast for any number of records. */
export const consoleListIndexes: Migration = {
  name: '0003-lists',
  statements: () => [
    'CREATE INDEX share_state ON share(tid, active, valid_from, valid_to, profile_id, location_id)',
    'DROP INDEX share_ends',
    `CREATE INDEX share_ends ON share(tid, coalesce(valid_to, ${Number.MIN_SAFE_INTEGER}), id, valid_from, active)`,
    'CREATE INDEX access_user_state ON access_user(tid, active, id, profile_id)',
    'CREATE INDEX access_user_list ON access_user(tid, email, id)',
  ],
};
