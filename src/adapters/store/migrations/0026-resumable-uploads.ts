import type { Migration } from './migration.ts';

/** Files that visitors upload in parts. */
export const resumableUploads: Migration = {
  name: '0026-resumable-uploads',
  statements: ({ integer, text }) => [
    `CREATE TABLE resumable_upload (
      id ${text} NOT NULL, tid ${integer} NOT NULL, share_id ${integer} NOT NULL, location_id ${integer} NOT NULL,
      identity_key ${text} NOT NULL, visitor ${text} NOT NULL, network ${text} NOT NULL, wide_network ${text} NOT NULL, path ${text} NOT NULL, location_path ${text} NOT NULL, size ${integer} NOT NULL,
      received ${integer} NOT NULL, token ${text} NOT NULL, handle ${text}, metadata ${text} NOT NULL, holder ${text}, stored_name ${text}, sha256 ${text},
      expires_at ${integer} NOT NULL,
      PRIMARY KEY (tid, id))`,
    'CREATE INDEX resumable_upload_share ON resumable_upload(tid, share_id) WHERE stored_name IS NULL',
    'CREATE INDEX resumable_upload_token ON resumable_upload(tid, token)',
    'CREATE INDEX resumable_upload_expiry ON resumable_upload(expires_at)',
  ],
};
