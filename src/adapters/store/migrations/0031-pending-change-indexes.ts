import type { Migration } from './migration.ts';

/**
 * Adds indexes to look up pending changes and unfinished uploads in parts, by location and by token. Without these indexes, each
 * change of a file reads all pending changes of its tenant. Paths are not indexed: PostgreSQL indexes no value above 2,700 bytes.
 */
export const pendingChangeIndexes: Migration = {
  name: '0031-pending-change-indexes',
  statements: () => [
    'CREATE INDEX unsettled_location ON unsettled(tid, location_id, audit_id)',
    'CREATE INDEX unsettled_token ON unsettled(token, tid)',
    'CREATE INDEX resumable_upload_location ON resumable_upload(tid, location_id, expires_at) WHERE stored_name IS NULL',
    'CREATE INDEX resumable_upload_unfinished ON resumable_upload(token) WHERE stored_name IS NULL',
  ],
};
