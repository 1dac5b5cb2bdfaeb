import type { Migration } from './migration.ts';

/** What recovery needs of an upload besides its token, such as the id of a multipart upload. */
export const uploadHandles: Migration = {
  name: '0013-upload-handles',
  statements: ({ text }) => [`ALTER TABLE unsettled ADD COLUMN handle ${text}`],
};
