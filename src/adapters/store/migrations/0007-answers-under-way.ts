import type { Migration } from './migration.ts';

/** The answer to a change of files is kept from its beginning, so that a crash in between does not lose it. */
export const answersUnderWay: Migration = {
  name: '0007-answers-under-way',
  statements: ({ integer }) => [
    `ALTER TABLE idempotency ADD COLUMN audit_id ${integer}`,
    'CREATE INDEX idempotency_under_way ON idempotency(tid, audit_id) WHERE audit_id IS NOT NULL',
  ],
};
