import type { Migration } from './migration.ts';

/** Adds where the items of pending changes are at services, so that the database finds the changes that overlap another one. */
export const changePlaces: Migration = {
  name: '0042-change-places',
  statements: ({ text }) =>
    ['place', 'new_place'].map((column) => `ALTER TABLE unsettled ADD COLUMN ${column} ${text} NOT NULL DEFAULT ''`),
};
