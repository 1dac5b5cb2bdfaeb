import { type IdleThread, idleThread, type ThreadOwner } from '#adapters/os/idle-thread.ts';
import type { StorageRoot } from './open-within-root.ts';
import type { DiskResponse } from './run-request.ts';
import type { Lane } from './thread-lane.ts';
import { ThreadBudget, ThreadPool } from './thread-pool.ts';

/** Returns a thread for disk commands, not started yet. @param root returns the open folder of the location; null: none is open */
export type OpenThread = (owner: ThreadOwner<DiskResponse>, root: () => StorageRoot | null) => IdleThread;

export interface ThreadSettings {
  readonly openThread: OpenThread;
  /** Time after which a disk that does not respond counts as unavailable, in ms. */
  readonly responseTimeout: number;
}

export const defaultThreads: ThreadSettings = {
  openThread: (owner, root) => idleThread('./disk-thread', import.meta.url, owner, root),
  responseTimeout: 20_000,
};

const maxLookups = 64; // batches of lookups: with more than one, the thread stays busy while a response is on its way
/** Idle time of a thread after work for which no visitor waits, in ms: a thread takes 10 MB. */
export const backgroundIdleTime = 1000;

const maxPages = 4;
const maxSyncs = 4;
const maxDataRequests = 4; // as many as Node.js runs file operations at a time by default
const maxAdditionalThreads = 32; // of all locations together
const maxProbes = 32;

/** Returns the budget for the additional threads of all locations. */
export const newThreadBudget = () => new ThreadBudget(maxAdditionalThreads);

/**
 * The threads of one location, with a lane for each kind of work. A lookup does not queue behind requests for large folders or slow syncs:
 * if they occupy all threads, another one starts, as far as the budget allows it.
 */
export interface FolderThreads extends AsyncDisposable {
  /** Finds and opens files. Opens the folder of the location, and checks it. */
  readonly lookups: Lane;
  /** Creates, renames and removes directory entries, one change after the other. */
  readonly changes: Lane;
  /** Reads folders in batches. A folder stays in the thread that opened it. */
  readonly lists: Lane;
  /** Reads and sorts pages of folders. */
  readonly pages: Lane;
  /** Syncs files and folders, and writes small uploads. A change ends with a sync, which must not wait for the bytes of other transfers. */
  readonly syncs: Lane;
  /** Reads and writes bytes. Creates, closes and discards staging files. */
  readonly data: Lane;
  /** Lists the staging area, and deletes what is left in it. A large folder may take minutes. */
  readonly removals: Lane;
  /** Returns whether the disk has not answered a request for longer than the limit. */
  isBlocked(): boolean;
}

/** Returns the threads of a location. None is started yet. @param root returns the open folder; null while it is being opened */
export function folderThreads(root: () => StorageRoot | null, budget: ThreadBudget, settings: ThreadSettings): FolderThreads {
  const pool = new ThreadPool({ openThread: (owner) => settings.openThread(owner, root), budget, settings });
  return {
    lookups: pool.addLane({ concurrency: maxLookups, oneThread: true }),
    changes: pool.addLane({ concurrency: 1 }),
    syncs: pool.addLane({ concurrency: maxSyncs }),
    lists: pool.addLane({ concurrency: 1, oneThread: true }),
    pages: pool.addLane({ concurrency: maxPages }),
    data: pool.addLane({ concurrency: maxDataRequests }),
    removals: pool.addLane({ concurrency: 1, idleTime: backgroundIdleTime }),
    isBlocked: () => pool.isBlocked(),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** Runs checks, such as the health checks of thousands of locations, on folders that are not kept open. */
export interface FolderProbes extends AsyncDisposable {
  readonly lane: Lane;
}

export function folderProbes(settings: ThreadSettings): FolderProbes {
  const pool = new ThreadPool({
    openThread: (owner) => settings.openThread(owner, () => null),
    budget: new ThreadBudget(maxProbes),
    settings,
  });
  return {
    lane: pool.addLane({ concurrency: maxProbes, idleTime: backgroundIdleTime }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
