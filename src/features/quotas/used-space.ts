import { sql } from 'kysely';
import { formatItemPath, splitPath } from '#core/item-path.ts';
import type { Tx } from '#ports/store.ts';
import { isWithin, type LocationItem } from './counted-folders.ts';

/**
 * Bytes that an upload claims in addition to those that have arrived. If it claimed the complete file at the beginning, somebody who sends
 * only the first bytes of a large file could keep others from uploading for a day.
 */
export const claimStep = 16 << 20;
/** `claimStep` for an upload in parts while no part arrives. */
const idleClaimStep = 1 << 20;

/** Returns the bytes that an upload in parts claims. @param isArriving whether a part arrives */
export const claimOf = (size: number, received: number, isArriving: boolean): number =>
  Math.min(size, received + (isArriving ? claimStep : idleClaimStep));

export interface UsedSpace {
  readonly bytes: number;
  readonly files: number;
}

const sumOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`;
const toSpace = (row: { readonly bytes: number; readonly files: number } | undefined): UsedSpace => ({
  bytes: Number(row?.bytes ?? 0),
  files: Number(row?.files ?? 0),
});

const sumOfSpaces = (...spaces: readonly UsedSpace[]): UsedSpace => ({
  bytes: spaces.reduce((sum, { bytes }) => sum + bytes, 0),
  files: spaces.reduce((sum, { files }) => sum + files, 0),
});

const stepInRow = sql`case when holder is null then ${sql.lit(idleClaimStep)} else ${sql.lit(claimStep)} end`;
/** `claimOf` in SQL. */
const claimedBytes = sql`case when size - received < ${stepInRow} then size else received + ${stepInRow} end`;

/** Returns the bytes and files that pending changes claim. An upload in parts claims its space in a row of its own. */
async function spaceOfPendingChanges(db: Tx, { tid, locationId, path }: LocationItem): Promise<UsedSpace> {
  const item = splitPath(path);
  const row = await db
    .selectFrom('unsettled')
    .select([sumOf('bytes').as('bytes'), sumOf('files').as('files')])
    .where('tid', '=', tid)
    .where('location_id', '=', locationId)
    .where(({ or, and, eb }) =>
      or([isWithin('parent', path), ...(item ? [and([eb('parent', '=', formatItemPath(item.parent)), eb('name', '=', item.name)])] : [])]),
    )
    .executeTakeFirst();
  return toSpace(row);
}

/** Returns the bytes and files that unfinished uploads in parts claim. Two queries, because each has an index. */
async function spaceOfUploadsInParts(db: Tx, { tid, locationId, path }: LocationItem, now: number): Promise<UsedSpace> {
  const uploads = db
    .selectFrom('resumable_upload')
    .select([sql<number>`coalesce(sum(${claimedBytes}), 0)`.as('bytes'), sql<number>`count(*)`.as('files')])
    .where('tid', '=', tid)
    .where('location_id', '=', locationId)
    .where('stored_name', 'is', null)
    .where(isWithin('location_path', path));
  const idle = await uploads.where('holder', 'is', null).where('expires_at', '>', now).executeTakeFirst();
  const arriving = await uploads.where('holder', 'is not', null).executeTakeFirst(); // a part may arrive after the expiry
  return sumOfSpaces(toSpace(idle), toSpace(arriving));
}

/** Returns what a counted folder holds, without uploads that are under way. */
export async function countedSpace(db: Tx, { tid, locationId, path }: LocationItem): Promise<UsedSpace> {
  const row = await db
    .selectFrom('used_space')
    .select([sumOf('bytes').as('bytes'), sumOf('files').as('files')])
    .where('tid', '=', tid)
    .where('location_id', '=', locationId)
    .where('path', '=', formatItemPath(path))
    .executeTakeFirst();
  const { bytes, files } = toSpace(row);
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) };
}

/** Returns what a counted folder holds, with the uploads that are under way. @param now ms since the epoch */
export async function usedSpace(db: Tx, item: LocationItem, now: number): Promise<UsedSpace> {
  return sumOfSpaces(await countedSpace(db, item), await spaceOfPendingChanges(db, item), await spaceOfUploadsInParts(db, item, now));
}

/** Returns what the locations of a tenant hold, by location. A location whose files were not counted yet is absent. */
export async function spaceOfLocations(db: Tx, tid: number, ids: readonly number[]): Promise<ReadonlyMap<number, UsedSpace>> {
  const rows = await db
    .selectFrom('counted_folder')
    .leftJoin('used_space', (join) =>
      join
        .onRef('used_space.tid', '=', 'counted_folder.tid')
        .onRef('used_space.location_id', '=', 'counted_folder.location_id')
        .onRef('used_space.path', '=', 'counted_folder.path'),
    )
    .select(['counted_folder.location_id', sumOf('bytes').as('bytes'), sumOf('files').as('files')])
    .where('counted_folder.tid', '=', tid)
    .where('counted_folder.location_id', 'in', [...ids])
    .where('counted_folder.path', '=', '/')
    .where('counted_at', 'is not', null)
    .groupBy('counted_folder.location_id')
    .execute();
  return new Map(
    rows.map((row) => {
      const { bytes, files } = toSpace(row);
      return [row.location_id, { bytes: Math.max(0, bytes), files: Math.max(0, files) }];
    }),
  );
}
