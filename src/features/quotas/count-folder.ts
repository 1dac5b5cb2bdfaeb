import { type Selectable, sql } from 'kysely';
import { parseStoredPath, rootPath } from '#core/item-path.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { isTemporaryStoreError, type Tx } from '#ports/store.ts';
import type { LocationTable } from '#ports/tables.ts';
import { countFiles } from './count-files.ts';
import { deleteCountedFolder } from './counted-folders.ts';
import type { CountMemory } from './uncounted-folders.ts';
import type { UsedSpace } from './used-space.ts';

const minute = 60_000; // ms
/**
 * The pause after a count without changes: 100 times the duration of the count, and at least an hour. So the counts of a folder that
 * nobody changes take about 1% of the time at most.
 */
const pauseWithoutChanges = { inDurations: 100, ms: 60 * minute };
/** The pause after a count during which files were changed: the count may have missed the changes. */
const pauseAfterChanges = { inDurations: 10, ms: minute };
const pauseAfterFailure = 10 * minute;

export type CountPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock'>;

/** A counted folder with the row of its location. */
export interface CountedFolder extends Selectable<LocationTable> {
  /** Path in the location. */
  readonly path: string;
}

const keyOf = ({ tid, id, path }: CountedFolder) => ({ tid, location_id: id, path });

/** Returns whether the folder must still be counted. The folder of a share is counted only while a share of this folder has a quota. */
async function isStillCounted(db: Tx, { tid, id, path }: CountedFolder): Promise<boolean> {
  if (path === '/') return true;
  const share = await db
    .selectFrom('share')
    .select('id')
    .where('tid', '=', tid)
    .where('location_id', '=', id)
    .where('path_key', '=', path)
    .where(({ or, eb }) => or([eb('max_bytes', 'is not', null), eb('max_files', 'is not', null)])) // the condition of the index share_quota
    .limit(1)
    .executeTakeFirst();
  return share !== undefined;
}

/** Ends the counting of a folder if it need not be counted any more. @returns whether it must still be counted */
async function keepIfStillCounted(tx: Tx, folder: CountedFolder): Promise<boolean> {
  if (await isStillCounted(tx, folder)) return true;
  await deleteCountedFolder(tx, { tid: folder.tid, locationId: folder.id, path: folder.path });
  return false;
}

/** The recorded size of a folder, and the number of changes that were added to it. `discardCounts` resets that number, a count does not. */
interface RecordedSpace extends UsedSpace {
  readonly changes: number;
}

async function recordedSpace(db: Tx, folder: CountedFolder): Promise<RecordedSpace> {
  const sumOf = (column: 'bytes' | 'files' | 'changes') => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`.as(column);
  const row = await db
    .selectFrom('used_space')
    .select([sumOf('bytes'), sumOf('files'), sumOf('changes')])
    .where(({ and }) => and(keyOf(folder)))
    .executeTakeFirst();
  return { bytes: Number(row?.bytes ?? 0), files: Number(row?.files ?? 0), changes: Number(row?.changes ?? 0) };
}

interface FolderCount {
  readonly contents: UsedSpace;
  /** The recorded values when the count began. */
  readonly before: RecordedSpace;
  /** ms since the epoch */
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * Stores a count. Adds the bytes and files that were recorded during the count, because the count may have missed them: until the next
 * count, the sum is too high rather than too low.
 */
async function storeCount(tx: Tx, folder: CountedFolder, { contents, before, startedAt, endedAt }: FolderCount): Promise<void> {
  const location = await tx
    .selectFrom('location')
    .select('version')
    .where('tid', '=', folder.tid)
    .where('id', '=', folder.id)
    .executeTakeFirst();
  // The location was deleted, or may hold other files now: then the folder is still due.
  if (location?.version !== folder.version) return;
  const row = await tx
    .selectFrom('counted_folder')
    .select('due_at')
    .where(({ and }) => and(keyOf(folder)))
    .executeTakeFirst();
  if (!row) return;
  const current = await recordedSpace(tx, folder);
  const isCurrent = current.changes === before.changes && row.due_at === startedAt;
  const pause = isCurrent ? pauseWithoutChanges : pauseAfterChanges;
  await tx
    .deleteFrom('used_space')
    .where(({ and }) => and(keyOf(folder)))
    .execute();
  await tx
    .updateTable('counted_folder')
    .set({ counted_at: endedAt, due_at: endedAt + Math.max(pause.ms, pause.inDurations * (endedAt - startedAt)) })
    .where(({ and }) => and(keyOf(folder)))
    .execute();
  const space = {
    bytes: contents.bytes + Math.max(0, current.bytes - before.bytes),
    files: contents.files + Math.max(0, current.files - before.files),
  };
  await tx
    .insertInto('used_space')
    .values({ ...keyOf(folder), ...space, slot: 0, changes: current.changes })
    .execute();
}

/** @param dueAt ms since the epoch */
async function setDue({ store }: CountPorts, folder: CountedFolder, dueAt: number): Promise<void> {
  await store.write(
    (tx) =>
      tx
        .updateTable('counted_folder')
        .set({ due_at: dueAt })
        .where(({ and }) => and(keyOf(folder)))
        .execute(),
    'job',
  );
}

interface CountOptions {
  /** Memory that all counts of the job share. */
  readonly memory: CountMemory;
  /** Ends the count. */
  readonly signal: AbortSignal;
}

async function countOnce(ports: CountPorts, folder: CountedFolder, startedAt: number, options: CountOptions): Promise<void> {
  const { store, storages, vault, clock } = ports;
  if (!(await store.write((tx) => keepIfStillCounted(tx, folder), 'job'))) return;
  await setDue(ports, folder, startedAt); // if the due time differs after the count, a new count was requested meanwhile
  const before = await recordedSpace(store.read, folder);
  const storage = await openLocation(folder, { storages, vault });
  const contents = await countFiles(storage, parseStoredPath(folder.path) ?? rootPath, options);
  await store.write((tx) => storeCount(tx, folder, { contents, before, startedAt, endedAt: clock.now() }), 'job');
}

/**
 * Counts a folder. If its location is unavailable, takes too long or needs too much memory, it is counted again later.
 * @param jobSignal ends the job
 * @throws StoreUnavailable, StoreFull; the reason of `jobSignal`
 */
export async function countFolder(
  ports: CountPorts,
  folder: CountedFolder,
  { jobSignal, memory, signal }: CountOptions & { readonly jobSignal: AbortSignal },
): Promise<void> {
  const startedAt = ports.clock.now();
  try {
    await countOnce(ports, folder, startedAt, { memory, signal: AbortSignal.any([jobSignal, signal]) });
  } catch (cause) {
    if (jobSignal.aborted || isTemporaryStoreError(cause)) throw cause;
    const endedAt = ports.clock.now();
    await setDue(ports, folder, endedAt + Math.max(pauseAfterFailure, pauseWithoutChanges.inDurations * (endedAt - startedAt)));
  }
}
