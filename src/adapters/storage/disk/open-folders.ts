import { closeSync } from 'node:fs';
import { waitAtMost } from '#core/time-limit.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { RootGone } from './disk-errors.ts';
import { FileLookups, type SmallFile } from './file-lookups.ts';
import { FolderLists } from './folder-lists.ts';
import { FolderPages, PageCache } from './folder-pages.ts';
import {
  backgroundIdleTime,
  defaultThreads,
  type FolderProbes,
  type FolderThreads,
  folderProbes,
  folderThreads,
  newThreadBudget,
  type ThreadSettings,
} from './folder-threads.ts';
import type { FolderPath } from './location-folder.ts';
import type { StorageRoot } from './open-within-root.ts';
import { ReadBuffers } from './read-buffers.ts';
import { smallFileCache } from './small-files.ts';
import { SpareMarks } from './spare-marks.ts';
import { WriteBuffers } from './write-buffers.ts';

const defaultMaxOpen = 100; // each folder has a descriptor and, while it is used, a few threads of 10 MB

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
  readonly pages: FolderPages;
  readonly buffers: ReadBuffers;
  readonly writeBuffers: WriteBuffers;
  readonly spareMarks: SpareMarks;
}

const maxDeletionTime = 2000; // ms for which the closing of a folder waits for the deletion of its spare marks

const stoppingError = () => new StorageUnavailable('Postern is stopping');

const keyOf = ({ tid, mountPoint, path }: LocationFolder) => `${tid} ${mountPoint} ${path}`;

/** Work in an open folder. @param hold keeps the folder open after the work, until the returned function is called */
type WorkInFolder<T> = (open: OpenFolder, hold: () => () => void) => Promise<T>;

/** A folder in the cache. Its threads exist before it is open, because they open it. */
interface CachedFolder {
  readonly key: string;
  readonly tid: number;
  readonly threads: FolderThreads;
  /** Resolves when the folder is open. */
  readonly opening: Promise<OpenFolder>;
  opened: OpenFolder | null;
  /** Number of tasks that use the folder or hold it open. */
  users: number;
}

/**
 * Keeps the folders of locations open. If many are open, closes one that is not in use before it opens another. Locations of one tenant
 * with the same folder share it.
 */
export class OpenFolders implements AsyncDisposable {
  readonly #maxOpen: number;
  readonly #settings: ThreadSettings;
  readonly #cache = new Map<string, CachedFolder>(); // in the order of their last use
  #lastUsed: CachedFolder | undefined;
  readonly #evictedInUse = new Set<CachedFolder>(); // closed when no work uses them and nothing holds them open
  readonly #smallFiles = smallFileCache<SmallFile>();
  readonly #pages = new PageCache();
  readonly #buffers = new ReadBuffers();
  readonly #writeBuffers = new WriteBuffers();
  readonly #budget = newThreadBudget();
  readonly #probes: FolderProbes;
  readonly #pendingChecks = new Map<string, Promise<void>>(); // by folder: a hung folder takes one thread, however often it is checked
  #isClosed = false;

  /** @param maxOpen with this number of open folders, an idle one is closed before another is opened */
  constructor(maxOpen = defaultMaxOpen, settings: ThreadSettings = defaultThreads) {
    this.#maxOpen = maxOpen;
    this.#settings = settings;
    this.#probes = folderProbes(settings);
  }

  /**
   * Runs `work` in a folder. If the path no longer leads to the open folder, for example after a new mount, opens the folder again.
   * @param work may call `hold`: the folder then stays open until the function that `hold` returns is called
   * @throws StorageUnavailable if the folder cannot be used
   */
  async use<T>(folder: LocationFolder, work: WorkInFolder<T>): Promise<T> {
    const cachedFolder = this.#open(folder);
    try {
      return await this.#runIn(cachedFolder, work);
    } catch (cause) {
      if (!(cause instanceof RootGone)) throw cause;
      this.#evict(cachedFolder);
      return this.#runIn(this.#open(folder), work);
    }
  }

  /** Returns the path of a folder with all links resolved. @throws StorageUnavailable if the folder cannot be used */
  pathOf(folder: LocationFolder): Promise<string> {
    return this.#runIn(this.#open(folder), async ({ root }) => root.path);
  }

  /** Checks a folder without opening it. @throws StorageUnavailable if the folder cannot be used */
  check(folder: LocationFolder): Promise<void> {
    const { path, mountPoint } = folder;
    const key = `${mountPoint} ${path}`;
    const pending = this.#pendingChecks.get(key);
    if (pending) return pending;
    const lane = this.#cache.get(keyOf(folder))?.opened?.threads.lookups ?? this.#probes.lane;
    let isRunning = true; // false already when `run` returns, if the lane hangs and refuses the command
    const onEnd = () => {
      isRunning = false;
      this.#pendingChecks.delete(key);
    };
    const check = lane.run('check', [{ path, mountPoint }], { onLateResult: () => {}, onEnd, idleTime: backgroundIdleTime });
    if (isRunning) this.#pendingChecks.set(key, check);
    return check;
  }

  /**
   * Returns whether the staging area of a folder is empty. Uses the threads of the checks: after a start, a hundred
   * locations with threads of their own would need 1 GB.
   * @throws StorageUnavailable, StorageUnusable
   */
  async isStagingEmpty(folder: LocationFolder): Promise<boolean> {
    if (this.#isClosed) throw stoppingError();
    await this.check(folder); // a folder that hangs must not block another thread
    const { path, mountPoint } = folder;
    return this.#probes.lane.run('isStagingEmpty', [{ path, mountPoint }], { onLateResult: () => {} });
  }

  /**
   * Returns paths with all links resolved; null for a path that does not exist or cannot be read.
   * @throws StorageUnavailable if a disk does not respond
   */
  resolveLinks(paths: readonly string[]): Promise<readonly (string | null)[]> {
    return this.#probes.lane.run('resolveLinks', [paths], { onLateResult: () => {} });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const folders = [...this.#cache.values(), ...this.#evictedInUse];
    this.#cache.clear(); // before the wait: otherwise `#evict` would close a folder again if its disk is lost meanwhile
    await Promise.all([...folders.map((cachedFolder) => this.#close(cachedFolder)), this.#probes[Symbol.asyncDispose]()]);
  }

  #open(folder: LocationFolder): CachedFolder {
    if (this.#isClosed) throw stoppingError();
    const key = keyOf(folder);
    const existing = this.#cache.get(key);
    if (existing && existing === this.#lastUsed) return existing; // it is already the last entry of the map
    if (existing) this.#cache.delete(key);
    else if (this.#cache.size >= this.#maxOpen) this.#evictOldest();
    const cachedFolder = existing ?? this.#openUncached(key, folder);
    this.#cache.set(key, cachedFolder);
    this.#lastUsed = cachedFolder;
    return cachedFolder;
  }

  #openUncached(key: string, folder: LocationFolder): CachedFolder {
    const threads = folderThreads(() => cachedFolder.opened?.root ?? null, this.#budget, this.#settings);
    const opening = Promise.withResolvers<OpenFolder>();
    const cachedFolder: CachedFolder = { key, tid: folder.tid, threads, opening: opening.promise, opened: null, users: 0 };
    let isLate = false;
    // After a timeout, the next request opens the folder again only if the attempt has ended: each attempt can block a thread.
    this.#openRoot(cachedFolder, folder, () => isLate && this.#evict(cachedFolder)).then(opening.resolve, (cause) => {
      isLate = threads.isBlocked();
      opening.reject(cause);
      if (!isLate) this.#evict(cachedFolder);
    });
    opening.promise.catch(() => {}); // the folder can be closed before anybody waits for it
    return cachedFolder;
  }

  /** @param onEnd called when the thread no longer tries to open the folder */
  async #openRoot(cachedFolder: CachedFolder, { path, mountPoint }: LocationFolder, onEnd: () => void): Promise<OpenFolder> {
    const { threads } = cachedFolder;
    const onLateResult = (root: StorageRoot) => closeSync(root.descriptor);
    const root = await threads.lookups.run('openRoot', [{ path, mountPoint }], { onLateResult, onEnd });
    const lookups = new FileLookups(threads, this.#smallFiles.forFolder());
    const pages = new FolderPages(threads, this.#pages);
    cachedFolder.opened = {
      ...{ root, threads, lookups, lists: new FolderLists(threads), pages },
      ...{ buffers: this.#buffers, writeBuffers: this.#writeBuffers, spareMarks: new SpareMarks(threads) },
    };
    return cachedFolder.opened;
  }

  async #runIn<T>(cachedFolder: CachedFolder, work: WorkInFolder<T>): Promise<T> {
    const release = this.#hold(cachedFolder);
    try {
      return await work(cachedFolder.opened ?? (await cachedFolder.opening), () => this.#hold(cachedFolder));
    } finally {
      release();
    }
  }

  #hold(cachedFolder: CachedFolder): () => void {
    cachedFolder.users += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      cachedFolder.users -= 1;
      if (cachedFolder.users === 0 && this.#evictedInUse.has(cachedFolder)) void this.#close(cachedFolder);
    };
  }

  /** Evicts the least recently used idle folder of the tenant that has the most idle folders. */
  #evictOldest(): void {
    const idle = [...this.#cache.values()].filter(({ users, threads }) => users === 0 && !threads.isBlocked());
    const idleByTenant = Map.groupBy(idle, ({ tid }) => tid);
    const largestGroup = [...idleByTenant.values()].sort((one, other) => other.length - one.length)[0];
    if (largestGroup?.[0]) this.#evict(largestGroup[0]);
  }

  #evict(cachedFolder: CachedFolder): void {
    if (this.#cache.get(cachedFolder.key) !== cachedFolder) return;
    this.#cache.delete(cachedFolder.key);
    if (cachedFolder.users > 0) this.#evictedInUse.add(cachedFolder);
    else void this.#close(cachedFolder);
  }

  async #close(cachedFolder: CachedFolder): Promise<void> {
    this.#evictedInUse.delete(cachedFolder);
    const isBlocked = cachedFolder.threads.isBlocked();
    if (cachedFolder.opened && !isBlocked) await waitAtMost(cachedFolder.opened.spareMarks.deleteAll(), maxDeletionTime);
    await cachedFolder.threads[Symbol.asyncDispose]();
    // A blocked thread may still use the descriptor. It stays open: otherwise its number could become that of another folder.
    if (cachedFolder.opened && !isBlocked) closeSync(cachedFolder.opened.root.descriptor);
  }
}
