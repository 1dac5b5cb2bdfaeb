import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setAndEvict } from '#core/newest.ts';
import { firstTenant } from '#core/records/tenant.ts';
import type { Storage } from '#ports/storage.ts';
import type { Storages } from '#ports/storages.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import { openFolders } from './disk/open-folders.ts';
import { configuredFolder, configuredFolderOrNull, parseLocalLocation } from './local-configuration.ts';
import { localStorage } from './local-storage.ts';

/** A folder within which a tenant may add locations. */
export interface LocalRoot {
  readonly tid: number;
  readonly folder: string;
}

const isWithin = (folder: string, root: string) => folder === root || folder.startsWith(root + sep);

/** Returns the path with all symbolic links resolved, or null if it does not exist. */
function resolveLinks(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

const maxCachedStorages = 512;

const notAllowed = 'the folder is not within a folder that the operator allows for this tenant (POSTERN_LOCAL_ROOTS)';

/**
 * Opens locations of kind `local`: folders of this machine.
 * @param roots the folders within which tenants may add locations (POSTERN_LOCAL_ROOTS)
 * @param data POSTERN_DATA: tenant 1 may share its folder `files`; nothing else in it can be shared
 * @param minFree bytes that uploads leave free on the file system of POSTERN_DATA, which holds the database
 */
export function localStorages(roots: readonly LocalRoot[], data: string, minFree = 0): Storages & AsyncDisposable {
  const defaultRoot = join(data, 'files');
  if (!existsSync(defaultRoot)) mkdirSync(defaultRoot);
  const floor: FreeSpaceFloor = { device: statSync(defaultRoot).dev, bytes: minFree };
  const folders = openFolders();
  const cachedStorages = new Map<string, Storage>(); // by tenant and configuration
  const allowedRoots = [...roots, { tid: firstTenant, folder: defaultRoot }];
  const isAllowed = (tid: number, folder: string) =>
    allowedRoots
      .filter((root) => root.tid === tid)
      .some((root) => isWithin(folder, root.folder) || isWithin(folder, resolveLinks(root.folder) ?? root.folder));
  /** Returns whether the folder overlaps the part of POSTERN_DATA that must not be shared, such as the database and the keys. */
  const holdsSecrets = (folder: string) => {
    const dataFolder = resolveLinks(data) ?? data;
    return isWithin(dataFolder, folder) || (isWithin(folder, dataFolder) && !isWithin(folder, resolveLinks(defaultRoot) ?? defaultRoot));
  };

  return {
    async open({ tid, configuration }) {
      const key = `${tid} ${configuration}`;
      const storage = cachedStorages.get(key) ?? localStorage(folders, parseLocalLocation(configuration, { tid, data, floor }));
      if (!cachedStorages.has(key)) setAndEvict(cachedStorages, key, storage, maxCachedStorages);
      return storage;
    },
    async configurationError({ tid, configuration }, others) {
      const configuredPath = configuredFolder(data, configuration);
      const folder = resolveLinks(configuredPath);
      // The error is the same for every folder outside the roots, so that it does not reveal which of them exist.
      if (!isAllowed(tid, folder ?? configuredPath)) return notAllowed;
      if (!folder) return 'the folder does not exist';
      if (holdsSecrets(folder)) return 'the folder overlaps POSTERN_DATA, which contains the database and the keys';
      const foreignFolders = others
        .filter((other) => other.tid !== tid && other.kind === 'local')
        .map((other) => resolveLinks(configuredFolderOrNull(data, other.configuration) ?? ''));
      if (foreignFolders.some((other) => other && (isWithin(folder, other) || isWithin(other, folder))))
        return 'the folder overlaps a folder of another tenant';
      return null;
    },
    [Symbol.asyncDispose]: () => folders[Symbol.asyncDispose](),
  };
}
