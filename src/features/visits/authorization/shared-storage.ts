import { type ItemPath, joinPaths, parseStoredPath, splitPath } from '#core/item-path.ts';
import { PageTooDeep } from '#core/listing.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { openConfiguration } from '#features/storage-access/open-location.ts';
import { ItemAbsent, ItemExists, ItemStale, type Storage, StorageAway, StorageFull, StorageRefused } from '#ports/storage.ts';
import type { AuthorizedVisit, VisitPorts } from './authorize-visit.ts';

/** What lies in a share: every path is relative to the share's own, and nothing above it can be named. */
export interface SharedStorage {
  readonly storage: Storage;
  /** Where an item of the share lies in the location. @throws ItemAbsent below a share of one file */
  locationPath(path: ItemPath): ItemPath;
  /** The folder and the name of an item. @throws 403 for the share's own root */
  directoryEntry(path: ItemPath): { parent: ItemPath; name: string };
}

/** The storage of a share: the only way from a visit to bytes, and only with decide()'s permit. */
export async function storageFor(
  { permit, link }: Pick<AuthorizedVisit, 'permit' | 'link'>,
  { storages, vault }: Pick<VisitPorts, 'storages' | 'vault'>,
): Promise<SharedStorage> {
  const root = parseStoredPath(link.path);
  if (!root || permit.share.active !== (link.active === 1)) throw new Error('a stored path is not one');
  const configuration = openConfiguration(link, vault);
  const storage = await withStorageErrors(() => storages.open({ id: link.location_id, tid: link.tid, kind: link.kind, configuration }));
  const at = (path: ItemPath) => {
    if (link.folder === 0 && path.length > 0) throw new Refusal('itemAbsent');
    return joinPaths(root, path);
  };
  return {
    storage,
    locationPath: at,
    directoryEntry(path) {
      const spot = path.length === 0 && link.folder === 1 ? null : splitPath(at(path));
      if (!spot) throw new Refusal('rootFixed');
      return spot;
    },
  };
}

/** What a storage says, in the words of the catalogue. */
function refusalOf(cause: unknown): unknown {
  if (cause instanceof ItemAbsent) return new Refusal('itemAbsent');
  if (cause instanceof ItemExists) return new Refusal('itemExists');
  if (cause instanceof ItemStale) return new Refusal('itemStale');
  if (cause instanceof PageTooDeep) return fieldRefusal('startIndex', 'lies too deep in so large a folder: search for a part of the name');
  if (cause instanceof StorageFull) return new Refusal('storageFull');
  if (cause instanceof StorageAway || cause instanceof StorageRefused) return new Refusal('storageAway');
  return cause;
}

/** Runs what asks a storage. @throws Refusal for whatever the storage answers */
export async function withStorageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusalOf(cause);
  }
}
