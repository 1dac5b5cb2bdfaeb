import type { Migration } from './migration.ts';

/** Adds whether a pending change at a service has passed its checks, or only waits for them. Changes from before count as running. */
export const runningChanges: Migration = {
  name: '0043-running-changes',
  statements: ({ integer }) => [`ALTER TABLE unsettled ADD COLUMN running ${integer} NOT NULL DEFAULT 1`],
};
