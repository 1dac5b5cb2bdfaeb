import type { Migration } from './migration.ts';

/** Adds whether a pending change has begun: changes of folders above it wait for it. */
export const startedChanges: Migration = {
  name: '0040-started-changes',
  statements: ({ integer }) => [`ALTER TABLE unsettled ADD COLUMN started ${integer} NOT NULL DEFAULT 1`],
};
