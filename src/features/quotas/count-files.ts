import { type ItemPath, joinPaths, parseSegments } from '#core/item-path.ts';
import { waitAtMost } from '#core/time-limit.ts';
import type { Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { UsedSpace } from './used-space.ts';

const maxDepth = 255; // levels; deeper folders are not counted: a hostile service could nest them without end
const maxPendingFolders = 1_000_000; // names in memory
const stepTimeLimit = 60_000; // ms; a storage that hangs must not keep the count of other locations from running

/** The methods of a storage that counting needs. */
export type CountableStorage = Pick<Storage, 'stat' | 'list'>;

/** There are more files and folders than the caller allows, or more folders than fit in memory. */
export class TooManyFiles extends Error {}

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

/**
 * Counts the files of a folder and of all its subfolders. The path may also be that of a file.
 * @param maxEntries files and folders
 * @throws TooManyFiles, StorageUnavailable; the reason of the signal
 */
export async function countFiles(
  storage: CountableStorage,
  path: ItemPath,
  { maxEntries = Number.POSITIVE_INFINITY, signal }: { readonly maxEntries?: number; readonly signal?: AbortSignal } = {},
): Promise<UsedSpace> {
  const root = path.length === 0 ? null : await awaitStep(storage.stat(path));
  if (path.length > 0 && !root) return { bytes: 0, files: 0 };
  if (root && !root.folder) return { bytes: root.size, files: 1 };
  /** Folders that are still to be listed. The name is null for the first one, which is `path` itself. */
  const pending: { readonly parent: ItemPath; readonly name: string | null }[] = [{ parent: path, name: null }];
  let [bytes, files, entries] = [0, 0, 0];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const name = parseSegments(next.name === null ? [] : [next.name]);
    if (!name) continue; // no path can have this name
    const folder = joinPaths(next.parent, name);
    for await (const batch of batchesOf(storage, folder)) {
      signal?.throwIfAborted();
      entries += batch.length;
      for (const entry of batch) {
        bytes += entry.size;
        files += entry.folder ? 0 : 1;
        if (entry.folder && folder.length < maxDepth) pending.push({ parent: folder, name: entry.name });
      }
      if (entries > maxEntries || pending.length > maxPendingFolders) throw new TooManyFiles('there are too many files to count');
    }
  }
  return { bytes, files };
}
