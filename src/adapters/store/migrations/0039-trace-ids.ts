import type { Migration } from './migration.ts';

/** Adds the number by which the audit entry of a leaked file is found. */
export const traceIds: Migration = {
  name: '0039-trace-ids',
  statements: ({ integer }) => [
    `ALTER TABLE audit ADD COLUMN trace_id ${integer}`,
    'CREATE INDEX audit_trace_id ON audit (tid, trace_id) WHERE trace_id IS NOT NULL',
  ],
};
