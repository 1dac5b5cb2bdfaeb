import type { Migration } from './migration.ts';

/** Adds the quotas of shares and locations, and the counts of the bytes and files that they hold. */
export const quotas: Migration = {
  name: '0027-quotas',
  statements: ({ integer, text }) => [
    ...['share', 'location'].flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN max_bytes ${integer}`,
      `ALTER TABLE ${table} ADD COLUMN max_files ${integer}`,
    ]),
    `ALTER TABLE unsettled ADD COLUMN bytes ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE unsettled ADD COLUMN files ${integer} NOT NULL DEFAULT 0`,
    `CREATE TABLE counted_folder (
      tid ${integer} NOT NULL, location_id ${integer} NOT NULL, path ${text} NOT NULL,
      counted_at ${integer}, due_at ${integer} NOT NULL,
      PRIMARY KEY (tid, location_id, path))`,
    'CREATE INDEX counted_folder_due ON counted_folder(due_at)',
    `CREATE TABLE used_space (
      tid ${integer} NOT NULL, location_id ${integer} NOT NULL, path ${text} NOT NULL, slot ${integer} NOT NULL,
      bytes ${integer} NOT NULL, files ${integer} NOT NULL, changes ${integer} NOT NULL,
      PRIMARY KEY (tid, location_id, path, slot))`,
    "INSERT INTO counted_folder (tid, location_id, path, due_at) SELECT tid, id, '/', 0 FROM location",
  ],
};
