import type { Migration } from './migration.ts';

/** Stores the response to a change of files from the start of the change, so that a crash does not lose it. */
export const pendingResponses: Migration = {
  name: '0007-answers-under-way',
  statements: ({ integer }) => [
    `ALTER TABLE idempotency ADD COLUMN audit_id ${integer}`,
    'CREATE INDEX idempotency_under_way ON idempotency(tid, audit_id) WHERE audit_id IS NOT NULL',
  ],
};
