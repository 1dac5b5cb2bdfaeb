import type { Migration } from './migration.ts';

/** Adds the certificates with which tenants sign PDF files. */
export const signatures: Migration = {
  name: '0036-signatures',
  statements: ({ integer, text }) => [
    `CREATE TABLE signature (
      tid ${integer} PRIMARY KEY, chain ${text} NOT NULL, private_key ${text} NOT NULL, timestamp_url ${text} NOT NULL)`,
  ],
};
