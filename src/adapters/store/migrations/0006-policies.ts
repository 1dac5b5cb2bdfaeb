import type { Migration } from './migration.ts';

/** Adds the policy of a tenant for its shares, and a column that marks the login profiles that belong to a single link. */
export const tenantPolicies: Migration = {
  name: '0006-policies',
  statements: ({ integer, text }) => [
    `ALTER TABLE tenant ADD COLUMN longest_validity_days ${integer}`,
    `ALTER TABLE tenant ADD COLUMN sign_in_required ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE tenant ADD COLUMN default_permissions ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE login_profile ADD COLUMN for_link ${integer} NOT NULL DEFAULT 0`,
  ],
};
