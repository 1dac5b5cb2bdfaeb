import { sql } from 'kysely';
import { formatItemPath, parseStoredPath, rootPath } from '#core/item-path.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { StoreFull, StoreUnavailable, type Tx } from '#ports/store.ts';
import { countFiles } from './count-files.ts';
import { deleteCountedFolder } from './counted-folders.ts';
import type { UsedSpace } from './used-space.ts';

const minute = 60_000; // ms
const maxFolders = 1000; // in one run
const maxConcurrent = 4; // tenants
const maxCountTime = 120 * minute; // a hostile service could list files without end
/** A count takes at most one percent of the time of a storage. */
const shortestPause = { inDurations: 100, ms: 60 * minute };
/** If files were changed while they were counted, the count may have missed them, and is repeated after this. */
const pauseAfterChanges = { inDurations: 10, ms: minute };
const pauseAfterFailure = 10 * minute;

type CountPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock'>;

/** Returns the due folders with the rows of their locations. */
const dueFolders = ({ store, clock }: CountPorts) =>
  store.read
    .selectFrom('counted_folder')
    .innerJoin('location', (join) =>
      join.onRef('location.tid', '=', 'counted_folder.tid').onRef('location.id', '=', 'counted_folder.location_id'),
    )
    .selectAll('location')
    .select('path')
    // A folder that was counted in the future was counted while the clock was ahead.
    .where(({ or, eb }) => or([eb('due_at', '<=', clock.now()), eb('counted_at', '>', clock.now())]))
    .orderBy('due_at')
    .limit(maxFolders);
type DueFolder = Awaited<ReturnType<ReturnType<typeof dueFolders>['execute']>>[number];

/** Returns the columns that identify a folder in the tables of counts, with their values. */
const keyOf = ({ tid, id, path }: DueFolder) => ({ tid, location_id: id, path });

/** Returns whether any folder is due. */
export const hasDueFolders = async (ports: CountPorts): Promise<boolean> =>
  (await dueFolders(ports).limit(1).executeTakeFirst()) !== undefined;

/** Returns whether the folder is still to be counted: that of a share only while a share with it has a quota. */
async function isStillCounted(db: Tx, { tid, id, path }: DueFolder): Promise<boolean> {
  if (path === '/') return true;
  const shares = await db
    .selectFrom('share')
    .select('path')
    .where('tid', '=', tid)
    .where('location_id', '=', id)
    .where(({ or, eb }) => or([eb('max_bytes', 'is not', null), eb('max_files', 'is not', null)]))
    .execute();
  return shares.some((share) => formatItemPath(parseStoredPath(share.path) ?? rootPath) === path);
}

const changesOf = async (db: Tx, folder: DueFolder): Promise<number> => {
  const row = await db
    .selectFrom('used_space')
    .select(sql<number>`coalesce(sum(changes), 0)`.as('changes'))
    .where(({ and }) => and(keyOf(folder)))
    .executeTakeFirst();
  return Number(row?.changes ?? 0);
};

/** Stores what was counted, in place of the sum of the changes. @param duration of the count, in ms */
async function storeCount(
  tx: Tx,
  folder: DueFolder,
  { bytes, files }: UsedSpace,
  { changesBefore, duration, now }: { readonly changesBefore: number; readonly duration: number; readonly now: number },
): Promise<void> {
  const changes = await changesOf(tx, folder);
  const pause = changes === changesBefore ? shortestPause : pauseAfterChanges;
  await tx
    .deleteFrom('used_space')
    .where(({ and }) => and(keyOf(folder)))
    .execute();
  const [result] = await tx
    .updateTable('counted_folder')
    .set({ counted_at: now, due_at: now + Math.max(pause.ms, pause.inDurations * duration) })
    .where(({ and }) => and(keyOf(folder)))
    .execute();
  if (Number(result?.numUpdatedRows) === 0) return; // the location was deleted meanwhile
  await tx
    .insertInto('used_space')
    .values({ ...keyOf(folder), slot: 0, bytes, files, changes })
    .execute();
}

async function countFolder(ports: CountPorts, folder: DueFolder, signal: AbortSignal): Promise<void> {
  const { store, storages, vault, clock } = ports;
  const item = { tid: folder.tid, locationId: folder.id, path: folder.path };
  if (!(await isStillCounted(store.read, folder))) return store.write((tx) => deleteCountedFolder(tx, item), 'job');
  const [changesBefore, startedAt] = [await changesOf(store.read, folder), clock.now()];
  const counted = await countFiles(await openLocation(folder, { storages, vault }), parseStoredPath(folder.path) ?? rootPath, { signal });
  const now = clock.now();
  await store.write((tx) => storeCount(tx, folder, counted, { changesBefore, duration: now - startedAt, now }), 'job');
}

/** Counts a folder again later, because its location is unavailable or has too many files. @param duration of the count, in ms */
async function postponeCount({ store, clock }: CountPorts, folder: DueFolder, duration: number): Promise<void> {
  await store.write(
    (tx) =>
      tx
        .updateTable('counted_folder')
        .set({ due_at: clock.now() + Math.max(pauseAfterFailure, shortestPause.inDurations * duration) })
        .where(({ and }) => and(keyOf(folder)))
        .execute(),
    'job',
  );
}

/** Counts a folder, or postpones its count. @throws StoreUnavailable, StoreFull; the reason of the signal */
async function countOrPostpone(ports: CountPorts, folder: DueFolder, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const startedAt = ports.clock.now();
  try {
    await countFolder(ports, folder, AbortSignal.any([signal, AbortSignal.timeout(maxCountTime)]));
  } catch (cause) {
    if (signal.aborted || cause instanceof StoreUnavailable || cause instanceof StoreFull) throw cause;
    await postponeCount(ports, folder, ports.clock.now() - startedAt);
  }
}

/**
 * Counts the files of the folders that are due: of a few tenants at a time, and of each tenant one folder after the other. A location
 * that is unavailable is tried again later.
 * @throws StoreUnavailable, StoreFull; the reason of the signal
 */
export async function countDueFolders(ports: CountPorts, signal: AbortSignal): Promise<void> {
  const foldersByTenant = Map.groupBy(await dueFolders(ports).execute(), ({ tid }) => tid);
  const queue = foldersByTenant.values();
  const countNext = async () => {
    for (const folders of queue) for (const folder of folders) await countOrPostpone(ports, folder, signal);
  };
  await Promise.all(Array.from({ length: maxConcurrent }, countNext));
}
