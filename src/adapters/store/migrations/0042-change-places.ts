import type { Migration } from './migration.ts';

/** Adds columns for the places of a pending change's item at a storage service. With them, the database finds overlapping changes. */
export const changePlaces: Migration = {
  name: '0042-change-places',
  statements: ({ text }) =>
    ['place', 'new_place'].map((column) => `ALTER TABLE unsettled ADD COLUMN ${column} ${text} NOT NULL DEFAULT ''`),
};
