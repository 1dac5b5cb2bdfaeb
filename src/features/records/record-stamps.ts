import { formatInstant } from '#core/instant.ts';

/** What a row keeps of its making and its last change. */
interface StampedRow {
  readonly created_owner: string;
  readonly updated_owner: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** Who made a record and changed it last, when, and its validator, as they are answered. */
export const stampsOf = (row: StampedRow) => ({
  createdOwner: row.created_owner,
  updatedOwner: row.updated_owner,
  createDateTime: formatInstant(row.created_at),
  updateDateTime: formatInstant(row.updated_at),
  etag: `"${row.version}"`,
});
