import { closeSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { firstTenant } from '#core/records/tenant.ts';
import { type Storage, StorageAway } from '#ports/storage.ts';
import type { Storages } from '#ports/storages.ts';
import { openRoot } from './disk/beneath.ts';
import { RootGone } from './disk/disk-errors.ts';
import { diskStorage, type WritingRules } from './disk/disk-storage.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import { folderLister, type Lister } from './disk/lister.ts';
import type { Ownership } from './disk/ownership.ts';
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

/**
 * The folder that a configuration names.
 * @param data POSTERN_DATA: where a folder lies that is not absolute
 * @throws StorageAway where it names none: its configuration was forgotten with the key that sealed it
 */
function folderIn(data: string, configuration: string): string {
  const parsed: unknown = JSON.parse(configuration);
  const folder = typeof parsed === 'object' && parsed !== null && 'folder' in parsed ? parsed.folder : '';
  if (typeof folder !== 'string' || folder === '') throw new StorageAway('the location names no folder');
  return resolve(data, folder);
}

const octal = (value: unknown) => (typeof value === 'string' ? Number.parseInt(value, 8) : null);

/** The rights that a configuration sets; its form was checked when it was stored. */
function ownershipIn(configuration: string): Ownership {
  const { fileMode, folderMode, group }: { fileMode?: string; folderMode?: string; group?: number } = JSON.parse(configuration);
  return { fileMode: octal(fileMode), folderMode: octal(folderMode), group: group ?? null };
}

function isMountPoint(configuration: string): boolean {
  const { mountPoint }: { mountPoint?: boolean } = JSON.parse(configuration);
  return mountPoint === true;
}

function folderOrNull(data: string, configuration: string): string | null {
  try {
    return folderIn(data, configuration);
  } catch {
    return null;
  }
}

/** What a folder holds, as long as its path leads to it. */
interface Opened extends AsyncDisposable {
  readonly storage: Storage;
}

/** What a configuration asks of its folder. */
interface FolderRules {
  readonly writing: WritingRules;
  /** Only where another file system is mounted: below it, uploads would vanish as soon as it is. */
  readonly mountPoint: boolean;
}

const isMounted = (folder: string) => statSync(folder).dev !== statSync(dirname(folder)).dev;

function openFolder(folder: string, lister: Lister, { writing, mountPoint }: FolderRules): Opened {
  try {
    const root = openRoot(folder);
    if (mountPoint && !isMounted(root.path)) {
      closeSync(root.descriptor);
      throw new StorageAway('nothing is mounted at the folder of the location');
    }
    const reader = fileReader(root);
    return { storage: diskStorage(root, lister, reader, writing), [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose]() };
  } catch (cause) {
    if (cause instanceof StorageAway) throw cause;
    throw new StorageAway('the folder of the location is gone', { cause });
  }
}

/** A disk that was unmounted and came back is another root: the storage that follows its path, and its end. */
function followPath(folder: string, rules: FolderRules): Opened {
  const lister = folderLister();
  let opened: Opened | undefined;
  const leave = async () => {
    const left = opened;
    opened = undefined; // its descriptor stays with those who still read
    await left?.[Symbol.asyncDispose]();
  };
  function current(): Storage {
    opened ??= openFolder(folder, lister, rules);
    return opened.storage;
  }
  async function reach<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
    const storage = current();
    try {
      return await work(storage);
    } catch (cause) {
      if (!(cause instanceof RootGone)) throw cause;
      if (opened?.storage === storage) await leave();
      return await work(current());
    }
  }
  return {
    storage: {
      check: () => reach((storage) => storage.check()),
      onDisk: (path) => current().onDisk(path),
      stat: (path) => reach((storage) => storage.stat(path)),
      list: (path) => reach((storage) => storage.list(path)),
      page: (path, query) => reach((storage) => storage.page(path, query)),
      open: (path) => reach((storage) => storage.open(path)),
      createFolder: (parent, name, mark) => reach((storage) => storage.createFolder(parent, name, mark)),
      upload: (parent, token, expected) => reach((storage) => storage.upload(parent, token, expected)),
      settle: (change) => reach((storage) => storage.settle(change)),
      clear: (change) => reach((storage) => storage.clear(change)),
      rename: (parent, from, to, mark) => reach((storage) => storage.rename(parent, from, to, mark)),
      remove: (parent, name, mark) => reach((storage) => storage.remove(parent, name, mark)),
      sweep: (underWay) => reach((storage) => storage.sweep(underWay)),
    },
    async [Symbol.asyncDispose]() {
      await lister[Symbol.asyncDispose]();
      await leave();
    },
  };
}

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
  const opened = new Map<string, Opened>();
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
    async open({ configuration }) {
      const known =
        opened.get(configuration) ??
        followPath(folderIn(data, configuration), {
          writing: { floor, ownership: ownershipIn(configuration) },
          mountPoint: isMountPoint(configuration),
        });
      opened.set(configuration, known);
      return known.storage;
    },
    async fault({ tid, configuration }, others) {
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
    async [Symbol.asyncDispose]() {
      for (const each of opened.values()) await each[Symbol.asyncDispose]();
    },
  };
}
