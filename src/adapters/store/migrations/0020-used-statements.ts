import type { Migration } from './migration.ts';

/** Providers' statements that a session or a test has used, or that are parked for their browser's next request. Each is used once. */
export const usedStatements: Migration = {
  name: '0020-used-statements',
  statements: ({ integer, text }) => [
    `CREATE TABLE used_statement (
      tid ${integer} NOT NULL,
      profile_id ${integer} NOT NULL,
      statement_key ${text} NOT NULL,
      until ${integer} NOT NULL,
      parked ${text},
      PRIMARY KEY (tid, profile_id, statement_key)
    )`,
    'CREATE INDEX used_statement_until ON used_statement(until)',
  ],
};
