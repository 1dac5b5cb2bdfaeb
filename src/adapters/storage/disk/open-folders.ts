import { closeSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type OpenFile, StorageAway } from '#ports/storage.ts';
import { RootGone } from './disk-errors.ts';
import { folderLister, type Lister } from './lister.ts';
import { openRoot, type Root } from './open-within-root.ts';
import { fileReader, type Reader } from './reader.ts';
import { smallFileCache } from './small-files.ts';

const mostFolders = 100; // each has a descriptor and up to two threads of 7 MB

/** The folder of a location. */
export interface LocationFolder {
  readonly tid: number;
  readonly path: string;
  /** Only where another file system is mounted: below it, uploads would vanish as soon as it is. */
  readonly mountPoint: boolean;
}

/** A folder held open, with the threads that read in it. */
export interface OpenFolder {
  readonly root: Root;
  readonly lister: Lister;
  readonly reader: Reader;
}

/** Keeps the folders of locations open while they are used, each once, however many locations lie there. */
export interface OpenFolders extends AsyncDisposable {
  /**
   * Runs `work` in a folder. A disk that was unmounted and came back is opened anew.
   * @param work may `hold` the folder open for longer than it runs, until it calls what `hold` returns
   * @throws StorageAway where the folder is gone
   */
  use<T>(folder: LocationFolder, work: (open: OpenFolder, hold: () => () => void) => Promise<T>): Promise<T>;
  /** Where a folder really lies. @throws StorageAway where it is gone */
  pathOf(folder: LocationFolder): string;
  /** Asks whether a folder is there, and leaves it closed where it is. @throws StorageAway where it is gone */
  check(folder: LocationFolder): Promise<void>;
}

interface CachedFolder extends OpenFolder {
  readonly key: string;
  readonly tid: number;
  users: number;
}

const nothingMounted = () => new StorageAway('nothing is mounted at the folder of the location');

function away(cause: unknown): StorageAway {
  return cause instanceof StorageAway ? cause : new StorageAway('the folder of the location is gone', { cause });
}

function openChecked({ path, mountPoint }: LocationFolder): Root {
  const root = openRoot(path);
  if (!mountPoint || statSync(root.path).dev !== statSync(dirname(root.path)).dev) return root;
  closeSync(root.descriptor);
  throw nothingMounted();
}

/** @param mostOpen how many stay open that nobody works in */
export function openFolders(mostOpen = mostFolders): OpenFolders {
  const open = new Map<string, CachedFolder>(); // in the order of their last use
  let newest: CachedFolder | undefined; // was used last
  const left = new Set<CachedFolder>(); // not to be used again, still in use
  const small = smallFileCache<OpenFile>();
  let closed = false;

  async function close(cached: CachedFolder): Promise<void> {
    left.delete(cached);
    closeSync(cached.root.descriptor);
    await Promise.all([cached.lister[Symbol.asyncDispose](), cached.reader[Symbol.asyncDispose]()]);
  }
  function leave(cached: CachedFolder): void {
    if (open.get(cached.key) !== cached) return;
    open.delete(cached.key);
    if (cached.users > 0) left.add(cached);
    else void close(cached);
  }
  /** Makes room at the tenant that has the most folders open. */
  function leaveOldest(): void {
    const idle = [...open.values()].filter(({ users }) => users === 0);
    const counts = Map.groupBy(idle, ({ tid }) => tid);
    const most = [...counts.values()].sort((one, other) => other.length - one.length)[0];
    if (most?.[0]) leave(most[0]);
  }
  function openNow(key: string, folder: LocationFolder): CachedFolder {
    try {
      const root = openChecked(folder);
      return { key, tid: folder.tid, root, lister: folderLister(), reader: fileReader(root, small.forFolder()), users: 0 };
    } catch (cause) {
      throw away(cause);
    }
  }
  function take(folder: LocationFolder): CachedFolder {
    if (closed) throw new StorageAway('Postern is stopping');
    const key = `${folder.tid} ${folder.mountPoint} ${folder.path}`;
    const known = open.get(key);
    if (known && known === newest) return known; // in its place already
    if (known) open.delete(key);
    else if (open.size >= mostOpen) leaveOldest();
    const cached = known ?? openNow(key, folder);
    open.set(key, cached);
    newest = cached;
    return cached;
  }
  function holdOpen(cached: CachedFolder): () => void {
    cached.users += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      cached.users -= 1;
      if (cached.users === 0 && left.has(cached)) void close(cached);
    };
  }
  async function work<T>(cached: CachedFolder, action: (open: OpenFolder, hold: () => () => void) => Promise<T>): Promise<T> {
    const release = holdOpen(cached);
    try {
      return await action(cached, () => holdOpen(cached));
    } finally {
      release();
    }
  }

  return {
    async use(folder, action) {
      const cached = take(folder);
      try {
        return await work(cached, action);
      } catch (cause) {
        if (!(cause instanceof RootGone)) throw cause;
        leave(cached);
        return work(take(folder), action);
      }
    },
    pathOf: (folder) => take(folder).root.path,
    async check({ path, mountPoint }) {
      try {
        const real = await realpath(path);
        const found = await stat(real);
        if (!found.isDirectory()) throw new StorageAway('the folder of the location is not a folder');
        if (mountPoint && found.dev === (await stat(dirname(real))).dev) throw nothingMounted();
      } catch (cause) {
        throw away(cause);
      }
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      const all = [...open.values(), ...left];
      open.clear(); // Before the wait: a folder whose disk is lost meanwhile would be closed twice.
      await Promise.all(all.map(close));
    },
  };
}
