import { formatInstant } from '#core/instant.ts';

interface StampedRow {
  readonly created_owner: string;
  readonly updated_owner: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** Returns the response fields for the creation and the last change of a record, and its etag. */
export const recordStamps = (row: StampedRow) => ({
  createdOwner: row.created_owner,
  updatedOwner: row.updated_owner,
  createDateTime: formatInstant(row.created_at),
  updateDateTime: formatInstant(row.updated_at),
  etag: `"${row.version}"`,
});
