import type { Migration } from './migration.ts';

/** Links a response to its pending change. The response is stored when the change begins, so that a crash does not lose it. */
export const pendingResponses: Migration = {
  name: '0007-answers-under-way',
  statements: ({ integer }) => [
    `ALTER TABLE idempotency ADD COLUMN audit_id ${integer}`,
    'CREATE INDEX idempotency_under_way ON idempotency(tid, audit_id) WHERE audit_id IS NOT NULL',
  ],
};
