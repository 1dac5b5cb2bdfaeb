import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setNewest } from '#core/newest.ts';
import { firstTenant } from '#core/records/tenant.ts';
import type { Storage } from '#ports/storage.ts';
import type { Storages } from '#ports/storages.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import { openFolders } from './disk/open-folders.ts';
import { folderIn, folderOrNull, localLocation } from './local-configuration.ts';
import { localStorage } from './local-storage.ts';

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

const mostKnown = 512;

const notAllowed = 'the folder does not lie below one that the operator allows this tenant (POSTERN_LOCAL_ROOTS)';

/**
 * Locations of kind `local`: folders of this machine.
 * @param roots where tenants may have them (POSTERN_LOCAL_ROOTS)
 * @param data POSTERN_DATA, of which tenant 1 may share what lies in `files`, and nobody anything else
 * @param minFree bytes that uploads leave free on its file system, which is that of the database
 */
export function localStorages(roots: readonly LocalRoot[], data: string, minFree = 0): Storages & AsyncDisposable {
  const own = join(data, 'files');
  if (!existsSync(own)) mkdirSync(own);
  const floor: FreeSpaceFloor = { device: statSync(own).dev, bytes: minFree };
  const folders = openFolders();
  const known = new Map<string, Storage>(); // by tenant and configuration
  const allowed = [...roots, { tid: firstTenant, folder: own }];
  const isAllowed = (tid: number, folder: string) =>
    allowed
      .filter((root) => root.tid === tid)
      .some((root) => isWithin(folder, root.folder) || isWithin(folder, realFolder(root.folder) ?? root.folder));
  /** The database, the keys and what else is not to be shared. */
  const holdsSecrets = (folder: string) => {
    const secret = realFolder(data) ?? data;
    return isWithin(secret, folder) || (isWithin(folder, secret) && !isWithin(folder, realFolder(own) ?? own));
  };

  return {
    async open({ tid, configuration }) {
      const key = `${tid} ${configuration}`;
      const storage = known.get(key) ?? localStorage(folders, localLocation(configuration, { tid, data, floor }));
      if (!known.has(key)) setNewest(known, key, storage, mostKnown);
      return storage;
    },
    async configurationError({ tid, configuration }, others) {
      const named = folderIn(data, configuration);
      const folder = realFolder(named);
      // The same answer for every folder elsewhere, so that nobody learns which of them exist.
      if (!isAllowed(tid, folder ?? named)) return notAllowed;
      if (!folder) return 'the folder does not exist';
      if (holdsSecrets(folder)) return 'the folder overlaps POSTERN_DATA, where the database and the keys are';
      const foreign = others
        .filter((other) => other.tid !== tid && other.kind === 'local')
        .map((other) => realFolder(folderOrNull(data, other.configuration) ?? ''));
      if (foreign.some((other) => other && (isWithin(folder, other) || isWithin(other, folder))))
        return 'the folder overlaps one of another tenant';
      return null;
    },
    [Symbol.asyncDispose]: () => folders[Symbol.asyncDispose](),
  };
}
