import type { Migration } from './migration.ts';

/**
 * Adds a table of changes that concern many counted folders, and three indexes. Without them, three queries read all shares or all
 * counted folders: whether a share of a folder has a quota; which folders of a tenant are due; which folders were counted while the
 * clock was ahead.
 */
export const quotaCounts: Migration = {
  name: '0032-quota-counts',
  statements: ({ integer, text }) => [
    'CREATE INDEX share_quota ON share(tid, location_id, path_key) WHERE max_bytes IS NOT NULL OR max_files IS NOT NULL',
    'CREATE INDEX counted_folder_tenant ON counted_folder(tid, due_at)',
    'CREATE INDEX counted_folder_time ON counted_folder(counted_at)',
    `CREATE TABLE count_change (
      tid ${integer} NOT NULL, location_id ${integer} NOT NULL, path ${text} NOT NULL, action ${text} NOT NULL,
      next_path ${text} NOT NULL, PRIMARY KEY (tid, location_id, path, action))`,
  ],
};
