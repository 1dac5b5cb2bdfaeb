import type { Migration } from './migration.ts';

/** Adds an index of the uploads of which a part is being received. A quota counts them even after they have expired. */
export const claimedUploads: Migration = {
  name: '0034-claimed-uploads',
  statements: () => [
    'CREATE INDEX resumable_upload_claimed ON resumable_upload(tid, location_id) WHERE stored_name IS NULL AND holder IS NOT NULL',
  ],
};
