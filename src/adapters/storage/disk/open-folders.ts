import { closeSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type OpenFile, StorageUnavailable } from '#ports/storage.ts';
import { RootGone } from './disk-errors.ts';
import { folderLister, type Lister } from './lister.ts';
import { openRoot, type StorageRoot } from './open-within-root.ts';
import { type DiskReader, fileReader } from './reader.ts';
import { smallFileCache } from './small-files.ts';

const defaultMaxOpen = 100; // each folder has a descriptor and up to two threads of 7 MB

/** The folder of a location. */
export interface LocationFolder {
  readonly tid: number;
  readonly path: string;
  /** true: used only while a file system is mounted there. Files uploaded before the mount would be hidden after it. */
  readonly mountPoint: boolean;
}

/** A folder held open, with the threads that read in it. */
export interface OpenFolder {
  readonly root: StorageRoot;
  readonly lister: Lister;
  readonly reader: DiskReader;
}

/** Keeps the folders of locations open while they are used. Locations of one tenant with the same folder share it. */
export interface OpenFolders extends AsyncDisposable {
  /**
   * Runs `work` in a folder. If its disk was unmounted and mounted again, the folder is opened again.
   * @param work may call `hold` to keep the folder open after it ends, until it calls the function that `hold` returns
   * @throws StorageUnavailable if the folder does not exist
   */
  use<T>(folder: LocationFolder, work: (open: OpenFolder, hold: () => () => void) => Promise<T>): Promise<T>;
  /** Returns the path of a folder with all links resolved. @throws StorageUnavailable if it does not exist */
  pathOf(folder: LocationFolder): string;
  /** Checks that a folder exists, without opening it. @throws StorageUnavailable if it does not exist */
  check(folder: LocationFolder): Promise<void>;
}

interface CachedFolder extends OpenFolder {
  readonly key: string;
  readonly tid: number;
  users: number;
}

const notMountedError = () => new StorageUnavailable('nothing is mounted at the folder of the location');

function toStorageAway(cause: unknown): StorageUnavailable {
  return cause instanceof StorageUnavailable ? cause : new StorageUnavailable('the folder of the location is gone', { cause });
}

function openChecked({ path, mountPoint }: LocationFolder): StorageRoot {
  const root = openRoot(path);
  if (!mountPoint || statSync(root.path).dev !== statSync(dirname(root.path)).dev) return root;
  closeSync(root.descriptor);
  throw notMountedError();
}

/**
 * Returns a cache of open folders, which is empty at first.
 * @param maxOpen with this number of open folders, an idle one is closed before another is opened
 */
export function openFolders(maxOpen = defaultMaxOpen): OpenFolders {
  const cache = new Map<string, CachedFolder>(); // in the order of their last use
  let lastUsed: CachedFolder | undefined;
  const evictedInUse = new Set<CachedFolder>(); // closed when their last user ends
  const smallFiles = smallFileCache<OpenFile>();
  let isClosed = false;

  async function close(cached: CachedFolder): Promise<void> {
    evictedInUse.delete(cached);
    closeSync(cached.root.descriptor);
    await Promise.all([cached.lister[Symbol.asyncDispose](), cached.reader[Symbol.asyncDispose]()]);
  }
  function evict(cached: CachedFolder): void {
    if (cache.get(cached.key) !== cached) return;
    cache.delete(cached.key);
    if (cached.users > 0) evictedInUse.add(cached);
    else void close(cached);
  }
  /** Evicts the idle folder with the oldest use of the tenant that has the most idle folders. */
  function evictOldest(): void {
    const idle = [...cache.values()].filter(({ users }) => users === 0);
    const idleByTenant = Map.groupBy(idle, ({ tid }) => tid);
    const largestGroup = [...idleByTenant.values()].sort((one, other) => other.length - one.length)[0];
    if (largestGroup?.[0]) evict(largestGroup[0]);
  }
  function openUncached(key: string, folder: LocationFolder): CachedFolder {
    try {
      const root = openChecked(folder);
      return { key, tid: folder.tid, root, lister: folderLister(), reader: fileReader(root, smallFiles.forFolder()), users: 0 };
    } catch (cause) {
      throw toStorageAway(cause);
    }
  }
  function open(folder: LocationFolder): CachedFolder {
    if (isClosed) throw new StorageUnavailable('Postern is stopping');
    const key = `${folder.tid} ${folder.mountPoint} ${folder.path}`;
    const existing = cache.get(key);
    if (existing && existing === lastUsed) return existing; // it already is the last of the map
    if (existing) cache.delete(key);
    else if (cache.size >= maxOpen) evictOldest();
    const cached = existing ?? openUncached(key, folder);
    cache.set(key, cached);
    lastUsed = cached;
    return cached;
  }
  function holdOpen(cached: CachedFolder): () => void {
    cached.users += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      cached.users -= 1;
      if (cached.users === 0 && evictedInUse.has(cached)) void close(cached);
    };
  }
  async function runIn<T>(cached: CachedFolder, work: (open: OpenFolder, hold: () => () => void) => Promise<T>): Promise<T> {
    const release = holdOpen(cached);
    try {
      return await work(cached, () => holdOpen(cached));
    } finally {
      release();
    }
  }

  return {
    async use(folder, work) {
      const cached = open(folder);
      try {
        return await runIn(cached, work);
      } catch (cause) {
        if (!(cause instanceof RootGone)) throw cause;
        evict(cached);
        return runIn(open(folder), work);
      }
    },
    pathOf: (folder) => open(folder).root.path,
    async check({ path, mountPoint }) {
      try {
        const realPath = await realpath(path);
        const folderStat = await stat(realPath);
        if (!folderStat.isDirectory()) throw new StorageUnavailable('the path of the location is not a folder');
        if (mountPoint && folderStat.dev === (await stat(dirname(realPath))).dev) throw notMountedError();
      } catch (cause) {
        throw toStorageAway(cause);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const folders = [...cache.values(), ...evictedInUse];
      cache.clear(); // before the wait: otherwise `evict` would close a folder again if its disk is lost meanwhile
      await Promise.all(folders.map(close));
    },
  };
}
