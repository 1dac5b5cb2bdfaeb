import { closeSync } from 'node:fs';
import { StorageUnavailable } from '#ports/storage.ts';
import type { FolderPath } from './disk-commands.ts';
import { RootGone } from './disk-errors.ts';
import { FileLookups, type SmallFile } from './file-lookups.ts';
import { FolderLists } from './folder-lists.ts';
import { defaultThreads, type FolderThreads, folderProbes, folderThreads, newThreadBudget, type ThreadSettings } from './folder-threads.ts';
import type { StorageRoot } from './open-within-root.ts';
import { ReadBuffers } from './read-buffers.ts';
import { smallFileCache } from './small-files.ts';

const defaultMaxOpen = 100; // each folder has a descriptor and, while it is used, a few threads of 7 MB

/** The folder of a location. */
export interface LocationFolder extends FolderPath {
  readonly tid: number;
}

/** A folder held open, with the threads that work in it. */
export interface OpenFolder {
  readonly root: StorageRoot;
  readonly threads: FolderThreads;
  readonly lookups: FileLookups;
  readonly lists: FolderLists;
  readonly buffers: ReadBuffers;
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
  pathOf(folder: LocationFolder): Promise<string>;
  /** Checks that a folder exists, without opening it. @throws StorageUnavailable if it does not exist */
  check(folder: LocationFolder): Promise<void>;
  /** Returns paths with all links resolved; null for those that do not exist. @throws StorageUnavailable if a disk does not answer */
  resolveLinks(paths: readonly string[]): Promise<readonly (string | null)[]>;
}

const keyOf = ({ tid, mountPoint, path }: LocationFolder) => `${tid} ${mountPoint} ${path}`;

/** A folder in the cache. Its threads exist before it is open, because they open it. */
interface CachedFolder {
  readonly key: string;
  readonly tid: number;
  readonly threads: FolderThreads;
  /** Resolves when the folder is open. */
  readonly opening: Promise<OpenFolder>;
  opened: OpenFolder | null;
  users: number;
}

/**
 * Returns a cache of open folders, which is empty at first.
 * @param maxOpen with this number of open folders, an idle one is closed before another is opened
 */
export function openFolders(maxOpen = defaultMaxOpen, settings: ThreadSettings = defaultThreads): OpenFolders {
  const cache = new Map<string, CachedFolder>(); // in the order of their last use
  let lastUsed: CachedFolder | undefined;
  const evictedInUse = new Set<CachedFolder>(); // closed when their last user ends
  const smallFiles = smallFileCache<SmallFile>();
  const buffers = new ReadBuffers();
  const budget = newThreadBudget();
  const probes = folderProbes(settings);
  const pendingChecks = new Map<string, Promise<void>>(); // by folder: a hung folder takes one thread, however often it is checked
  let isClosed = false;

  async function close(cached: CachedFolder): Promise<void> {
    evictedInUse.delete(cached);
    const isBlocked = cached.threads.isBlocked();
    await cached.threads[Symbol.asyncDispose]();
    // A blocked thread may still use the descriptor: its number must not become that of another folder.
    if (cached.opened && !isBlocked) closeSync(cached.opened.root.descriptor);
  }
  function evict(cached: CachedFolder): void {
    if (cache.get(cached.key) !== cached) return;
    cache.delete(cached.key);
    if (cached.users > 0) evictedInUse.add(cached);
    else void close(cached);
  }
  /** Evicts the idle folder with the oldest use of the tenant that has the most idle folders. */
  function evictOldest(): void {
    const idle = [...cache.values()].filter(({ users, threads }) => users === 0 && !threads.isBlocked());
    const idleByTenant = Map.groupBy(idle, ({ tid }) => tid);
    const largestGroup = [...idleByTenant.values()].sort((one, other) => other.length - one.length)[0];
    if (largestGroup?.[0]) evict(largestGroup[0]);
  }
  function openUncached(key: string, folder: LocationFolder): CachedFolder {
    const threads = folderThreads(() => cached.opened?.root ?? null, budget, settings);
    let isLate = false;
    async function openRoot(): Promise<OpenFolder> {
      const { path, mountPoint } = folder;
      const late = (root: StorageRoot) => closeSync(root.descriptor);
      // The next request tries again, but not while the disk hangs: each try would block another thread.
      const ended = () => isLate && evict(cached);
      const root = await threads.lookups.run('openRoot', [{ path, mountPoint }], { late, ended });
      const lookups = new FileLookups(threads, smallFiles.forFolder());
      cached.opened = { root, threads, lookups, lists: new FolderLists(threads), buffers };
      return cached.opened;
    }
    const opening = Promise.withResolvers<OpenFolder>();
    const cached: CachedFolder = { key, tid: folder.tid, threads, opening: opening.promise, opened: null, users: 0 };
    openRoot().then(opening.resolve, (cause) => {
      isLate = threads.isBlocked();
      opening.reject(cause);
      if (!isLate) evict(cached);
    });
    opening.promise.catch(() => {}); // if the folder is closed before anybody waits for it
    return cached;
  }
  function open(folder: LocationFolder): CachedFolder {
    if (isClosed) throw new StorageUnavailable('Postern is stopping');
    const key = keyOf(folder);
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
      return await work(cached.opened ?? (await cached.opening), () => holdOpen(cached));
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
    pathOf: (folder) => runIn(open(folder), async ({ root }) => root.path),
    check({ tid, path, mountPoint }) {
      const opened = cache.get(keyOf({ tid, path, mountPoint }))?.opened;
      const key = `${mountPoint} ${path}`;
      const pending = pendingChecks.get(key);
      if (pending) return pending;
      const ended = () => pendingChecks.delete(key);
      const lane = opened?.threads.lookups ?? probes.lane;
      const check = lane.run('check', [{ path, mountPoint }], { late: () => {}, ended });
      pendingChecks.set(key, check);
      return check;
    },
    resolveLinks: (paths) => probes.lane.run('resolveLinks', [paths], { late: () => {} }),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const folders = [...cache.values(), ...evictedInUse];
      cache.clear(); // before the wait: otherwise `evict` would close a folder again if its disk is lost meanwhile
      await Promise.all([...folders.map(close), probes[Symbol.asyncDispose]()]);
    },
  };
}
