import type { Migration } from './migration.ts';

/** Adds the second factors of operators, their recovery codes, and the policy that requires them. */
export const secondFactors: Migration = {
  name: '0021-second-factors',
  statements: ({ identity, integer: int, text }) => [
    `CREATE TABLE second_factor (
      id ${identity}, operator_id ${int} NOT NULL REFERENCES operator(id) ON DELETE CASCADE, kind ${text} NOT NULL, title ${text} NOT NULL,
      secret ${text} NOT NULL, last_step ${int} NOT NULL, created_at ${int} NOT NULL, last_used_at ${int})`,
    'CREATE INDEX second_factor_operator ON second_factor(operator_id)',
    `CREATE TABLE recovery_code (
      operator_id ${int} NOT NULL REFERENCES operator(id) ON DELETE CASCADE, code_key ${text} NOT NULL,
      PRIMARY KEY (operator_id, code_key))`,
    `ALTER TABLE tenant ADD COLUMN second_factor_required ${int} NOT NULL DEFAULT 0`,
  ],
};
