import type { Migration } from './migration.ts';

/** Stores each link once: before, SQLite wrote its key into the table and into an index of the table. */
export const linkWithoutRowid: Migration = {
  name: '0037-link-without-rowid',
  statements: ({ engine, integer, text }) =>
    engine === 'postgres'
      ? []
      : [
          `CREATE TABLE new_link (
            view_key ${text} PRIMARY KEY, tid ${integer} NOT NULL REFERENCES tenant(id), share_id ${integer}, profile_id ${integer})
            WITHOUT ROWID`,
          'INSERT INTO new_link (view_key, tid, share_id, profile_id) SELECT view_key, tid, share_id, profile_id FROM link ORDER BY view_key',
          'DROP TABLE link',
          'ALTER TABLE new_link RENAME TO link',
        ],
};
