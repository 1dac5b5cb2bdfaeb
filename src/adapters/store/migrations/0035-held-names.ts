import type { Migration } from './migration.ts';

/** Adds the names that processes hold while they change the files with these names. The names are deleted with the row of their process. */
export const heldNames: Migration = {
  name: '0035-held-names',
  statements: ({ text }) => [
    `CREATE TABLE held_name (
      name_key ${text} PRIMARY KEY, process ${text} NOT NULL REFERENCES process(name) ON DELETE CASCADE, holder ${text} NOT NULL)`,
    'CREATE INDEX held_name_process ON held_name(process)',
  ],
};
