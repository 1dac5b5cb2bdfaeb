import { mkdirSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { firstTenant } from '#core/records/tenant.ts';
import { type Storage, StorageAway } from '#ports/storage.ts';
import type { Storages } from '#ports/storages.ts';
import { openRoot } from './disk/beneath.ts';
import { RootGone } from './disk/disk-errors.ts';
import { diskStorage } from './disk/disk-storage.ts';
import { folderLister, type Lister } from './disk/lister.ts';
import { fileReader } from './disk/reader.ts';

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

/** What a folder holds, as long as its path leads to it. */
interface Opened extends AsyncDisposable {
  readonly storage: Storage;
}

function openFolder(folder: string, lister: Lister): Opened {
  try {
    const root = openRoot(folder);
    const reader = fileReader(root);
    return { storage: diskStorage(root, lister, reader), [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose]() };
  } catch (cause) {
    throw new StorageAway('the folder of the location is gone', { cause });
  }
}

/** A disk that was unmounted and came back is another root: the storage that follows its path, and its end. */
function followPath(folder: string, lister: Lister): Opened {
  let opened: Opened | undefined;
  const leave = async () => {
    const left = opened;
    opened = undefined; // its descriptor stays with those who still read
    await left?.[Symbol.asyncDispose]();
  };
  async function reach<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
    opened ??= openFolder(folder, lister);
    const { storage } = opened;
    try {
      return await work(storage);
    } catch (cause) {
      if (!(cause instanceof RootGone)) throw cause;
      if (opened?.storage === storage) await leave();
      opened ??= openFolder(folder, lister);
      return await work(opened.storage);
    }
  }
  return {
    storage: {
      check: () => reach((storage) => storage.check()),
      onDisk: (path) => [folder, ...path].join('/'),
      stat: (path) => reach((storage) => storage.stat(path)),
      list: (path) => reach((storage) => storage.list(path)),
      page: (path, query) => reach((storage) => storage.page(path, query)),
      open: (path) => reach((storage) => storage.open(path)),
      createFolder: (parent, name) => reach((storage) => storage.createFolder(parent, name)),
      upload: (parent, token) => reach((storage) => storage.upload(parent, token)),
      settle: (change) => reach((storage) => storage.settle(change)),
      rename: (parent, from, to, token) => reach((storage) => storage.rename(parent, from, to, token)),
      remove: (parent, name, token) => reach((storage) => storage.remove(parent, name, token)),
      sweep: (underWay) => reach((storage) => storage.sweep(underWay)),
    },
    [Symbol.asyncDispose]: leave,
  };
}

/**
 * Locations of kind `local`: folders of this machine.
 * @param roots where tenants may have them (POSTERN_LOCAL_ROOTS)
 * @param own the folder of tenant 1's first location
 */
export function localStorages(roots: readonly LocalRoot[], own: string): Storages & AsyncDisposable {
  mkdirSync(own, { recursive: true });
  const lister = folderLister();
  const opened = new Map<string, Opened>();
  const allowed = roots.length > 0 ? [...roots, { tid: firstTenant, folder: own }] : [{ tid: firstTenant, folder: own }];

  return {
    async open({ configuration }) {
      const known = opened.get(configuration) ?? followPath(folderOf(configuration), lister);
      opened.set(configuration, known);
      return known.storage;
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
      for (const each of opened.values()) await each[Symbol.asyncDispose]();
    },
  };
}
