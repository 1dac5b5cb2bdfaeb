import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { Storage } from '#ports/storage.ts';
import { ItemArchived } from '#ports/storage-errors.ts';
import type { NameMemory } from './name-memory.ts';
import { archivedItemPath, pendingFolders } from './pending-folders.ts';
import type { ArchiveEntry } from './zip-plan.ts';

const [sliceCost, folderCost] = [200, 20]; // entries; listing a folder costs as much as 20 entries, or more if it is nested deep
const sliceTime = 5; // ms: archives of many small folders do not wait for long slices of others
const maxDepth = 200; // levels; each level costs a lookup for every level above it, and few programs unpack more

/** A folder that is archived, completely or in part. */
export interface ArchivedFolder {
  readonly storage: Pick<Storage, 'stat' | 'list' | 'open' | 'readRun' | 'traits'>;
  readonly folder: ItemPath;
  /** Names of the children to archive; null: all. */
  readonly names: readonly string[] | null;
  /** Aborted when the visitor leaves before the end of the response: the walk then stops. */
  readonly clientGone: AbortSignal;
  /** Creates the memory for the names of folders that are still to be listed. */
  readonly createNameMemory: () => NameMemory;
}

/**
 * Yields the items below a folder: its own entries first, then those of its subfolders. Yields null before each listed
 * folder. The stack is explicit, because generators that delegate to each other pass every entry through all levels.
 * @throws Refusal (409) if folders are nested too deep, (503) if the names of the folders need too much memory; the
 *   reason of `clientGone`
 */
async function* walk(
  { storage, clientGone, createNameMemory }: ArchivedFolder,
  path: ItemPath,
  prefix: string,
): AsyncGenerator<ArchiveEntry | null> {
  const pending = pendingFolders({ path, prefix, depth: 0 }, createNameMemory());
  try {
    for (let folder = pending.next(); folder; folder = pending.next()) {
      if (folder.depth > maxDepth)
        throw new Refusal(
          'archiveTooDeep',
          `Folders are nested more than ${maxDepth} levels deep. Download one of the inner folders instead.`,
        );
      clientGone.throwIfAborted();
      yield null;
      // `list` returns null if the folder was deleted after its parent was listed
      for await (const batch of (await storage.list(folder.path)) ?? []) {
        clientGone.throwIfAborted();
        for (const entry of batch) {
          yield { entry, name: `${folder.prefix}${entry.name}${entry.folder ? '/' : ''}` };
          if (entry.folder) pending.add(entry.name);
        }
      }
    }
  } finally {
    pending.end();
  }
}

/**
 * Yields the chosen children of the folder.
 * @throws Refusal (404) if a chosen name does not exist; the reason of `clientGone`
 */
export async function* chosenEntries({
  storage,
  folder,
  names,
  clientGone,
}: ArchivedFolder): AsyncGenerator<ArchiveEntry & { readonly path: ItemPath }> {
  for (const name of names ?? []) {
    clientGone.throwIfAborted();
    const path = archivedItemPath(folder, name);
    const entry = await storage.stat(path);
    if (!entry) throw new Refusal('itemAbsent');
    yield { entry, name: `${name}${entry.folder ? '/' : ''}`, path };
  }
}

/** Yields all items of the archive, and null before each listed folder. @throws as `walk` and `chosenEntries` */
export async function* walkArchivedFolder(archivedFolder: ArchivedFolder): AsyncGenerator<ArchiveEntry | null> {
  if (!archivedFolder.names) return yield* walk(archivedFolder, archivedFolder.folder, '');
  for await (const { entry, name, path } of chosenEntries(archivedFolder)) {
    yield { entry, name };
    if (entry.folder) yield* walk(archivedFolder, path, name);
  }
}

/** Checks that a file can be read, before the archive begins. @throws Refusal (409) if it must be restored first */
async function checkReadable({ storage, folder }: ArchivedFolder, { entry, name }: ArchiveEntry): Promise<void> {
  if (!entry.mayNeedRestore) return;
  try {
    await (await storage.open(archivedItemPath(folder, name)))?.close();
  } catch (cause) {
    if (cause instanceof ItemArchived) throw new Refusal('fileArchived', `The folder contains a file in archive storage: ${name}`);
    throw cause;
  }
}

/**
 * Yields all items of the archive, and null at the end of every slice, so that others can take their turn.
 * @throws as `walkArchivedFolder` and `checkReadable`
 */
export async function* walkInSlices(archivedFolder: ArchivedFolder): AsyncGenerator<ArchiveEntry | null> {
  let [cost, start] = [0, performance.now()];
  for await (const item of walkArchivedFolder(archivedFolder)) {
    cost += item ? 1 : folderCost;
    if (item) {
      await checkReadable(archivedFolder, item);
      yield item;
    }
    if (cost < sliceCost && performance.now() - start < sliceTime) continue;
    yield null;
    [cost, start] = [0, performance.now()];
  }
}
