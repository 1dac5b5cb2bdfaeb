import type { Migration } from './migration.ts';

/** Providers' statements that have begun a session, or are parked until the next request of their browser. Each can begin one session. */
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
