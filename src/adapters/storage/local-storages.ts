import { mkdirSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { firstTenant } from '#core/records/tenant.ts';
import { type Storage, StorageAway } from '#ports/storage.ts';
import type { Storages } from '#ports/storages.ts';
import { isThere, openRoot, type Root } from './disk/beneath.ts';
import { diskStorage } from './disk/disk-storage.ts';
import { folderLister } from './disk/lister.ts';
import { fileReader, type Reader } from './disk/reader.ts';

/** A folder below which a tenant may add locations. */
export interface LocalRoot {
  readonly tid: number;
  readonly folder: string;
}

const isWithin = (folder: string, root: string) => folder === root || folder.startsWith(root + sep);

function realFolder(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

const folderOf = (configuration: string): string => {
  const parsed: unknown = JSON.parse(configuration);
  return typeof parsed === 'object' && parsed !== null && 'folder' in parsed && typeof parsed.folder === 'string' ? parsed.folder : '';
};

interface Opened {
  readonly root: Root;
  readonly storage: Storage;
}

/**
 * Locations of kind `local`: folders of this machine.
 * @param roots where tenants may have them (POSTERN_LOCAL_ROOTS)
 * @param own the folder of tenant 1's first location
 */
export function localStorages(roots: readonly LocalRoot[], own: string): Storages & AsyncDisposable {
  mkdirSync(own, { recursive: true });
  const lister = folderLister();
  const readers: Reader[] = [];
  const opened = new Map<string, Opened>();
  const allowed = roots.length > 0 ? [...roots, { tid: firstTenant, folder: own }] : [{ tid: firstTenant, folder: own }];

  return {
    async open({ configuration }) {
      const folder = folderOf(configuration);
      const known = opened.get(folder);
      // A disk that was unmounted and came back is another root: the old descriptor is left to those who still read.
      if (known && isThere(known.root)) return known.storage;
      try {
        const root = openRoot(folder);
        const reader = fileReader(root);
        readers.push(reader);
        const storage = diskStorage(root, lister, reader);
        opened.set(folder, { root, storage });
        return storage;
      } catch (cause) {
        throw new StorageAway('the folder of the location is gone', { cause });
      }
    },
    async fault({ tid, configuration }, others) {
      const folder = realFolder(folderOf(configuration));
      if (!folder) return 'the folder does not exist';
      const within = allowed.filter((root) => root.tid === tid).some((root) => isWithin(folder, realFolder(root.folder) ?? root.folder));
      if (!within) return 'the folder does not lie below one that the operator allows this tenant (POSTERN_LOCAL_ROOTS)';
      const foreign = others
        .filter((other) => other.tid !== tid && other.kind === 'local')
        .map((other) => realFolder(folderOf(other.configuration)));
      if (foreign.some((other) => other && (isWithin(folder, other) || isWithin(other, folder))))
        return 'the folder overlaps one of another tenant';
      return null;
    },
    async [Symbol.asyncDispose]() {
      await lister[Symbol.asyncDispose]();
      for (const reader of readers) await reader[Symbol.asyncDispose]();
    },
  };
}
