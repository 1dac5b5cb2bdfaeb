import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { Storage } from '#ports/storage.ts';
import type { NameMemory } from './name-memory.ts';
import { below, pendingFolders } from './pending-folders.ts';
import type { ArchiveEntry } from './zip-plan.ts';

const [sliceCost, folderCost] = [200, 20]; // entries; a folder costs as much as so many, or more where it lies deep
const deepest = 200; // levels; each costs a look-up for every level above it, and few programs unpack more

/** The folder that is packed, and what of it. */
export interface ArchivedFolder {
  readonly storage: Storage;
  readonly folder: ItemPath;
  /** Of its children; null: all. */
  readonly names: readonly string[] | null;
  /** Aborted when the visitor leaves before the answer: nobody waits for what is looked at. */
  readonly left: AbortSignal;
  /** Begins the memory for the names of folders that are still to be listed. */
  readonly beginNames: () => NameMemory;
}

/**
 * Yields what lies below a folder, a folder's own entries before those of its subfolders, and null for every folder that
 * is listed. The stack is explicit: generators that delegate to each other pass every entry through all levels.
 * @throws 409 where folders are nested too deep; 503 where too many wait; the reason of `left`
 */
async function* walk({ storage, left, beginNames }: ArchivedFolder, path: ItemPath, prefix: string): AsyncGenerator<ArchiveEntry | null> {
  const pending = pendingFolders({ path, prefix, depth: 0 }, beginNames());
  try {
    for (let folder = pending.next(); folder; folder = pending.next()) {
      if (folder.depth > deepest)
        throw new Refusal('archiveTooDeep', `Folders are nested deeper than ${deepest} levels: download one of the inner folders instead.`);
      left.throwIfAborted();
      yield null;
      // null: it is gone since it was found
      for await (const batch of (await storage.list(folder.path)) ?? []) {
        left.throwIfAborted();
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

/** @throws 404 for a chosen name that is not there; the reason of `left` */
export async function* chosenEntries({
  storage,
  folder,
  names,
  left,
}: ArchivedFolder): AsyncGenerator<ArchiveEntry & { readonly path: ItemPath }> {
  for (const name of names ?? []) {
    left.throwIfAborted();
    const path = below(folder, name);
    const entry = await storage.stat(path);
    if (!entry) throw new Refusal('itemAbsent');
    yield { entry, name: `${name}${entry.folder ? '/' : ''}`, path };
  }
}

/** All that is packed, and null for every folder that is listed. @throws as `walk` and `chosenEntries` */
export async function* walkArchivedFolder(packed: ArchivedFolder): AsyncGenerator<ArchiveEntry | null> {
  if (!packed.names) return yield* walk(packed, packed.folder, '');
  for await (const { entry, name, path } of chosenEntries(packed)) {
    yield { entry, name };
    if (entry.folder) yield* walk(packed, path, name);
  }
}

/** The same, and null at the end of every slice: others have their turn then. */
export async function* walkInSlices(packed: ArchivedFolder): AsyncGenerator<ArchiveEntry | null> {
  let cost = 0;
  for await (const one of walkArchivedFolder(packed)) {
    cost += one ? 1 : folderCost;
    if (one) yield one;
    if (cost < sliceCost) continue;
    cost = 0;
    yield null;
  }
}
