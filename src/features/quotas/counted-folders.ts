import { type SqlBool, sql } from 'kysely';
import { formatItemPath, type ItemPath, pathsToItem } from '#core/item-path.ts';
import type { Tx } from '#ports/store.ts';
import { changeCountedFolders } from './count-changes.ts';

// Folders whose files are counted: the root of each location, and the folder of each share that has a quota.

/** A file or folder in a location. */
export interface LocationItem {
  readonly tid: number;
  readonly locationId: number;
  /** Path in the location. */
  readonly path: ItemPath;
}

/** Bytes and files that a change adds to a folder. Negative: it removes them. */
export interface SpaceChange {
  readonly bytes: number;
  readonly files: number;
}

/** Maximum number of rows of one folder, which together are its count. Changes in different rows do not wait for each other. */
const slots = 64;

/** Returns an SQL condition for the item of a path and everything below it. @param column holds paths as texts */
export function isWithin(column: string, path: ItemPath) {
  if (path.length === 0) return sql<SqlBool>`1 = 1`;
  const text = formatItemPath(path);
  return sql<SqlBool>`(${sql.ref(column)} = ${text} or ${sql.ref(column)} >= ${`${text}/`} and ${sql.ref(column)} < ${`${text}0`})`;
}

/** Starts to count the files of a folder, if they are not counted yet. */
export async function addCountedFolder(tx: Tx, { tid, locationId, path }: LocationItem): Promise<void> {
  await tx
    .insertInto('counted_folder')
    .values({ tid, location_id: locationId, path: formatItemPath(path), counted_at: null, due_at: 0 })
    .onConflict((conflict) => conflict.columns(['tid', 'location_id', 'path']).doNothing())
    .execute();
}

/**
 * Adds a change to all counted folders that contain the item.
 * @param slot any number, taken modulo `slots`: concurrent changes in different slots do not wait for each other
 */
export async function recordSpaceChange(
  tx: Tx,
  { tid, locationId, path }: LocationItem,
  { bytes, files }: SpaceChange,
  slot: number,
): Promise<void> {
  await tx
    .insertInto('used_space')
    .columns(['tid', 'location_id', 'path', 'slot', 'bytes', 'files', 'changes'])
    .expression(
      tx
        .selectFrom('counted_folder')
        .select([
          'tid',
          'location_id',
          'path',
          sql<number>`cast(${slot % slots} as bigint)`.as('slot'),
          sql<number>`cast(${bytes} as bigint)`.as('bytes'),
          sql<number>`cast(${files} as bigint)`.as('files'),
          sql<number>`cast(1 as bigint)`.as('changes'),
        ])
        .where('tid', '=', tid)
        .where('location_id', '=', locationId)
        .where('path', 'in', pathsToItem(path)),
    )
    .onConflict((conflict) =>
      conflict.columns(['tid', 'location_id', 'path', 'slot']).doUpdateSet((row) => ({
        bytes: row('used_space.bytes', '+', row.ref('excluded.bytes')),
        files: row('used_space.files', '+', row.ref('excluded.files')),
        changes: row('used_space.changes', '+', 1),
      })),
    )
    .execute();
}

/** Requests a new count of all counted folders above, at and below a path, after a change whose size is not known. */
export async function requestCount(tx: Tx, { tid, locationId, path }: LocationItem): Promise<void> {
  await tx
    .updateTable('counted_folder')
    .set({ due_at: 0 })
    .where('tid', '=', tid)
    .where('location_id', '=', locationId)
    .where('path', 'in', pathsToItem(path))
    .execute();
  await changeCountedFolders(tx, { tid, locationId, path: formatItemPath(path), action: 'count' });
}

/** Discards the counts of all folders of a location and requests new ones, because the location may hold other files now. */
export const discardCounts = (tx: Tx, tid: number, locationId: number): Promise<void> =>
  changeCountedFolders(tx, { tid, locationId, path: '/', action: 'discard' });

/** Ends the counting of all folders of a location. */
export const deleteCountedFolders = (tx: Tx, tid: number, locationId: number): Promise<void> =>
  changeCountedFolders(tx, { tid, locationId, path: '/', action: 'delete' });

/** Ends the counting of a folder. @param path as text */
export async function deleteCountedFolder(
  tx: Tx,
  { tid, locationId, path }: Omit<LocationItem, 'path'> & { readonly path: string },
): Promise<void> {
  for (const table of ['used_space', 'counted_folder'] as const)
    await tx.deleteFrom(table).where('tid', '=', tid).where('location_id', '=', locationId).where('path', '=', path).execute();
}
