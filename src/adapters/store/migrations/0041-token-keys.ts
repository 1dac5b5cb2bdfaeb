import type { Migration } from './migration.ts';

/** Adds the id of the key with which a tenant signs, if the key is in a PKCS #11 token. Empty: the key is stored in the database. */
export const tokenKeys: Migration = {
  name: '0041-token-keys',
  statements: ({ text }) => [`ALTER TABLE signature ADD COLUMN token_key_id ${text} NOT NULL DEFAULT ''`],
};
