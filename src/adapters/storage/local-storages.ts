import { mkdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { firstTenant } from '#core/records/tenant.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { StorageLocation } from '#ports/storages.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import { OpenFolders } from './disk/open-folders.ts';
import { configuredFolder, configuredFolderOrNull, parseLocalLocation } from './local-configuration.ts';
import { localStorage } from './local-storage.ts';
import { cacheStorages } from './storage-cache.ts';
import type { StorageKind } from './storage-kinds.ts';

/** A folder within which a tenant may add locations. */
export interface LocalRoot {
  readonly tid: number;
  readonly folder: string;
}

const isWithin = (folder: string, root: string) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);

const notAllowed = 'the folder is not within a folder that the operator allows for this tenant (POSTERN_LOCAL_ROOTS)';

/**
 * Returns the kind `local`: folders of this machine.
 * @param roots the folders within which tenants may add locations (POSTERN_LOCAL_ROOTS)
 * @param data POSTERN_DATA: of this folder, only `files` may be shared, and tenant 1 needs no entry in `roots` for it
 * @param minFree bytes that uploads leave free on the file system of POSTERN_DATA, which holds the embedded database
 */
export function localStorages(roots: readonly LocalRoot[], data: string, minFree = 0, folders = new OpenFolders()): StorageKind {
  const defaultRoot = join(data, 'files');
  mkdirSync(defaultRoot, { recursive: true }); // another process that starts may create it at the same time
  const floor: FreeSpaceFloor = { device: statSync(data).dev, bytes: minFree };
  const allowedRoots = [...roots, { tid: firstTenant, folder: defaultRoot }];
  /** Returns paths with all links resolved. A path that does not exist or cannot be read stays as it is. */
  const resolveAll = async (paths: readonly string[]) =>
    (await folders.resolveLinks(paths)).map((resolved, index) => resolved ?? paths[index] ?? '');
  async function isAllowed(tid: number, folder: string): Promise<boolean> {
    const ownRoots = allowedRoots.filter((root) => root.tid === tid).map((root) => root.folder);
    return [...ownRoots, ...(await resolveAll(ownRoots))].some((root) => isWithin(folder, root));
  }
  /** Returns whether the folder overlaps the part of POSTERN_DATA that must not be shared, such as the database and the keys. */
  async function holdsSecrets(folder: string): Promise<boolean> {
    const [dataFolder = data, sharedRoot = defaultRoot] = await resolveAll([data, defaultRoot]);
    return isWithin(dataFolder, folder) || (isWithin(folder, dataFolder) && !isWithin(folder, sharedRoot));
  }
  async function overlapsAny(folder: string, others: readonly StorageLocation[]): Promise<boolean> {
    const paths = new Set(others.flatMap(({ configuration }) => configuredFolderOrNull(data, configuration) ?? []));
    return (await resolveAll([...paths])).some((other) => isWithin(folder, other) || isWithin(other, folder));
  }
  async function folderError(tid: number, configuration: string, others: readonly StorageLocation[]): Promise<string | null> {
    const { path, folder: formerPath }: { path?: string; folder?: string } = JSON.parse(configuration);
    if (path === undefined && formerPath === undefined) return 'path is required, as in { "path": "/absolute/path" }';
    if (path !== undefined && formerPath !== undefined) return 'folder is the former name of path: use only path';
    const configuredPath = configuredFolder(data, configuration);
    const [folder] = await folders.resolveLinks([configuredPath]);
    // The error is the same for every folder outside the roots, so that it does not reveal which folders exist.
    if (!(await isAllowed(tid, folder ?? configuredPath))) return notAllowed;
    if (!folder) return 'the folder does not exist';
    if (await holdsSecrets(folder)) return 'the folder overlaps POSTERN_DATA, which may contain the database and the keys';
    const foreignLocations = others.filter((other) => other.tid !== tid && other.kind === 'local');
    return (await overlapsAny(folder, foreignLocations)) ? 'the folder overlaps a folder of another tenant' : null;
  }

  return {
    open: cacheStorages(({ tid, configuration }) => localStorage(folders, parseLocalLocation(configuration, { tid, data, floor }))),
    async configurationError({ tid, configuration }, others) {
      try {
        return await folderError(tid, configuration, others);
      } catch (cause) {
        // If the disk does not respond, it is not known whether folders overlap.
        if (cause instanceof StorageUnavailable) return 'a disk does not respond, so the folder cannot be checked: try again later';
        throw cause;
      }
    },
    [Symbol.asyncDispose]: () => folders[Symbol.asyncDispose](),
  };
}
