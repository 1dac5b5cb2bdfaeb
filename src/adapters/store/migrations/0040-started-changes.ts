import type { Migration } from './migration.ts';

/** Adds when a pending change began: changes of folders above it wait for it. Earlier changes count as old. */
export const startedChanges: Migration = {
  name: '0040-started-changes',
  statements: ({ integer }) => [`ALTER TABLE unsettled ADD COLUMN started ${integer} NOT NULL DEFAULT 1`],
};
