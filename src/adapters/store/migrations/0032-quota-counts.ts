import type { Migration } from './migration.ts';

/** Index that finds whether a share of a folder has a quota, however many shares with quotas the location has. */
export const quotaCounts: Migration = {
  name: '0032-quota-counts',
  statements: () => ['CREATE INDEX share_quota ON share(tid, location_id, path_key) WHERE max_bytes IS NOT NULL OR max_files IS NOT NULL'],
};
