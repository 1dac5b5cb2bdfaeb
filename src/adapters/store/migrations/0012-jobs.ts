import type { Migration } from './migration.ts';

/** Work that survives a crash, claimed by lease: each job is run by one process at a time. */
export const jobs: Migration = {
  name: '0012-jobs',
  statements: ({ integer, text }) => [
    `CREATE TABLE job (
      kind ${text} NOT NULL, key ${text} NOT NULL, payload ${text} NOT NULL, due_at ${integer} NOT NULL, attempts ${integer} NOT NULL,
      generation ${integer} NOT NULL, holder ${text}, lease_until ${integer}, error ${text} NOT NULL, failed_at ${integer},
      created_at ${integer} NOT NULL, PRIMARY KEY (kind, key))`,
    'CREATE INDEX job_due ON job(kind, due_at) WHERE failed_at IS NULL',
  ],
};
