import type { ItemPath } from '#core/item-path.ts';
import { waitAtMost } from '#core/time-limit.ts';
import type { Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { type CountMemory, TooManyFiles, UncountedFolders } from './uncounted-folders.ts';
import type { UsedSpace } from './used-space.ts';

const maxDepth = 255; // levels; deeper folders are not counted: a hostile service could nest them without end
const stepTimeLimit = 60_000; // ms; a storage that hangs must not stop the counts of other locations

/** The methods of a storage that counting needs. */
export type CountableStorage = Pick<Storage, 'stat' | 'list'>;

/** Waits for a storage. @throws StorageUnavailable if it does not respond in time */
async function awaitStep<T>(step: Promise<T>): Promise<T> {
  const result = await waitAtMost(step, stepTimeLimit);
  if (result.late) throw new StorageUnavailable('the storage did not respond while its files were counted');
  return result.value;
}

/** Ends a list that nobody reads. Until then, the storage holds the folder open. */
async function endList(batches: AsyncIterable<unknown> | null): Promise<void> {
  for await (const _ of batches ?? []) return;
}

/** Lists a folder. @throws StorageUnavailable if the storage does not respond in time; a list that comes later is ended */
async function listInTime(storage: CountableStorage, folder: ItemPath) {
  const list = storage.list(folder);
  try {
    return await awaitStep(list);
  } catch (cause) {
    void list.then(endList).catch(() => {});
    throw cause;
  }
}

/** Yields the batches of a folder's entries. Ends if the folder was deleted. */
async function* batchesOf(storage: CountableStorage, folder: ItemPath) {
  const batches = await listInTime(storage, folder);
  const iterator = batches?.[Symbol.asyncIterator]();
  try {
    for (
      let next = iterator && (await awaitStep(iterator.next()));
      next && !next.done;
      next = iterator && (await awaitStep(iterator.next()))
    )
      yield next.value;
  } finally {
    void iterator?.return?.().catch(() => {});
  }
}

interface CountOptions {
  /** Maximum number of files and folders. */
  readonly maxEntries?: number;
  /** Counts that run at the same time share it. */
  readonly memory?: CountMemory;
  readonly signal?: AbortSignal;
}

/**
 * Counts the files of a folder and of all its subfolders. The path may also be that of a file.
 * @throws TooManyFiles, StorageUnavailable; the reason of the signal
 */
export async function countFiles(
  storage: CountableStorage,
  path: ItemPath,
  { maxEntries = Number.POSITIVE_INFINITY, memory = { usedBytes: 0 }, signal }: CountOptions = {},
): Promise<UsedSpace> {
  const root = path.length === 0 ? null : await awaitStep(storage.stat(path));
  if (path.length > 0 && !root) return { bytes: 0, files: 0 };
  if (root && !root.folder) return { bytes: root.size, files: 1 };
  using folders = new UncountedFolders(memory);
  let [bytes, files, entries] = [0, 0, 0];
  for (let folder: ItemPath | null = path; folder; folder = folders.take()) {
    for await (const batch of batchesOf(storage, folder)) {
      signal?.throwIfAborted();
      entries += batch.length;
      if (entries > maxEntries) throw new TooManyFiles('there are too many files to count');
      const subfolders = batch.filter((entry) => entry.folder);
      bytes += batch.reduce((sum, { size }) => sum + size, 0);
      files += batch.length - subfolders.length;
      if (folder.length < maxDepth)
        folders.add(
          folder,
          subfolders.map(({ name }) => name),
        );
    }
  }
  return { bytes, files };
}
