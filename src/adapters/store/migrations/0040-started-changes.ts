import type { Migration } from './migration.ts';

/** Adds the time when a pending change began: changes of a folder above its item wait for it. Changes from before count as old. */
export const startedChanges: Migration = {
  name: '0040-started-changes',
  statements: ({ integer }) => [`ALTER TABLE unsettled ADD COLUMN started ${integer} NOT NULL DEFAULT 1`],
};
