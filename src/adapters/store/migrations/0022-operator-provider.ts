import type { Migration } from './migration.ts';

/** Adds the user of the provider that an operator is linked to, whether the provider sets the role, and which sessions began there. */
export const operatorProvider: Migration = {
  name: '0022-operator-provider',
  statements: ({ integer: int, text }) => [
    `ALTER TABLE operator ADD COLUMN provider_subject ${text}`,
    `ALTER TABLE operator ADD COLUMN is_managed ${int} NOT NULL DEFAULT 0`,
    'CREATE UNIQUE INDEX operator_provider_subject ON operator(provider_subject) WHERE provider_subject IS NOT NULL',
    `ALTER TABLE operator_session ADD COLUMN by_provider ${int} NOT NULL DEFAULT 0`,
  ],
};
