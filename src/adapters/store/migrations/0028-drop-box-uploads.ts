import type { Migration } from './migration.ts';

/** Adds a column that marks the uploads in parts that are begun at a drop box. */
export const dropBoxUploads: Migration = {
  name: '0028-drop-box-uploads',
  statements: ({ integer }) => [`ALTER TABLE resumable_upload ADD COLUMN drop_box ${integer} NOT NULL DEFAULT 0`],
};
