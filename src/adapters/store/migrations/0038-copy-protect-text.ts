import type { Migration } from './migration.ts';

/** Adds the flag with which visitors may read the text of protected documents. */
export const copyProtectText: Migration = {
  name: '0038-copy-protect-text',
  statements: ({ integer }) => [
    `ALTER TABLE share ADD COLUMN copy_protect_text ${integer} NOT NULL DEFAULT 0 CHECK (copy_protect_text IN (0, 1))`,
  ],
};
