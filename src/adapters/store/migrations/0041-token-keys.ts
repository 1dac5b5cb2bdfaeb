import type { Migration } from './migration.ts';

/** Adds the key of a PKCS #11 token with which a tenant signs. */
export const tokenKeys: Migration = {
  name: '0041-token-keys',
  statements: ({ text }) => [`ALTER TABLE signature ADD COLUMN token_key_id ${text} NOT NULL DEFAULT ''`],
};
