import { setAndEvict } from '#core/bounded-map.ts';
import type { Storage } from '#ports/storage.ts';
import type { StorageLocation } from '#ports/storages.ts';

const maxCachedStorages = 512;

/** Returns a function that opens the storage of a location, and caches it by tenant and configuration. */
export function cacheStorages(
  open: (location: StorageLocation) => Storage | Promise<Storage>,
): (location: StorageLocation) => Promise<Storage> {
  const cachedStorages = new Map<string, Storage | Promise<Storage>>();
  return async (location) => {
    const key = `${location.tid} ${location.configuration}`;
    const cached = cachedStorages.get(key);
    if (cached) return cached;
    const storage = open(location);
    setAndEvict(cachedStorages, key, storage, maxCachedStorages);
    if (storage instanceof Promise)
      storage.catch(() => {
        if (cachedStorages.get(key) === storage) cachedStorages.delete(key); // another one may have replaced it meanwhile
      });
    return storage;
  };
}
