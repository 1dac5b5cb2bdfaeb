import type { IdleThread } from '#adapters/os/idle-thread.ts';
import { setAndEvict } from '#core/bounded-map.ts';
import { clientGroupsOf } from '#core/client-networks.ts';
import { fairQueue } from '#core/fair-queue.ts';
import type { StorageClient } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { CommandName, CommandParameters, CommandResult } from './disk-commands.ts';
import { errorOf } from './disk-errors.ts';
import type { DiskRequest, DiskResponse } from './run-request.ts';

/** Ms without work until a thread ends, after most requests: each of thousands of locations may have threads. */
export const defaultIdleTime = 60_000;
const maxKnownAddresses = 1000; // whose groups are cached: parsing an address often takes longer than reading a piece of a file

export interface LaneOptions {
  /** Requests in progress at a time. */
  readonly concurrency: number;
  /** true: while requests are in progress, or the lane is held, all of them go to the same thread. */
  readonly oneThread?: boolean;
  /** Time after the last request until the thread may end if it is idle, in ms. */
  readonly idleTime?: number;
}

/** How a request is sent, and what happens to it if the disk does not respond in time. */
interface RequestOptions<T> {
  /** The client that the request is for: networks take turns. undefined: it is for Postern itself. */
  readonly client?: StorageClient;
  /** Memory in the parameters that is moved to the thread instead of being copied. */
  readonly moved?: readonly ArrayBuffer[];
  /**
   * Called with a result that comes after the caller got StorageUnavailable. Without this function, the caller of a request that
   * was sent to a thread waits until the thread answers.
   */
  readonly onLateResult?: (result: T) => void;
  /**
   * Called when no thread runs the request any more, or when it is refused before a thread gets it. Its caller may have got
   * StorageUnavailable long before.
   */
  readonly onEnd?: () => void;
  /** true: the request is queued even if the disk hangs, because it releases a resource such as a descriptor. */
  readonly always?: boolean;
  /** Time after this request until the thread may end if it is idle, in ms. Default: the idle time of the lane. */
  readonly idleTime?: number;
}

export interface PendingRequest {
  readonly lane: Lane;
  /** The groups in which the request waits for its turn. */
  readonly groups: readonly string[];
  readonly request: DiskRequest;
  readonly moved: readonly ArrayBuffer[];
  /** Whether the caller may get an error although the thread may still run the request. */
  readonly canExpire: boolean;
  readonly always: boolean;
  readonly idleTime: number;
  /** When it was sent to a thread; before that, when it was queued. */
  since: number;
  isSent: boolean;
  isExpired: boolean;
  settle(response: DiskResponse): void;
  expire(): void;
}

export interface PoolThread {
  readonly thread: IdleThread;
  readonly isAdditional: boolean;
  hasAnswered: boolean;
  /** Until when the thread stays if it is idle: the latest end of the idle times that have begun. */
  idleUntil: number;
  /** Requests that the thread has not answered, in their order. */
  sent: PendingRequest[];
}

/** The pool that runs the requests of a lane. */
interface LanePool {
  /** Sends queued requests to free threads. */
  dispatch(): void;
  /** Lets idle threads end after their idle time. */
  startIdleTimers(): void;
  /** Returns whether a request that was sent or queued at `since` has waited for longer than the limit. */
  isLate(since: number): boolean;
}

const hungError = () => new StorageUnavailable('the disk of the location does not respond');

/** Requests of one kind, which wait for their turn in a pool. */
export class Lane {
  readonly #pool: LanePool;
  readonly #options: LaneOptions;
  readonly #queue = fairQueue<PendingRequest>();
  /** The requests that were not sent to a thread yet, the oldest first. */
  readonly #queued = new Set<PendingRequest>();
  /** The request in `#queued` whose turn it is. */
  #next: PendingRequest | undefined;
  readonly #groupsByClient = new Map<StorageClient, readonly string[]>();
  /** Requests that threads have not answered, the oldest first. */
  readonly #inProgress = new Set<PendingRequest>();
  #thread: PoolThread | undefined;
  #holds = 0;
  /** Time of the last request to a thread. While requests can be sent, the disk does not count as hung, even if others wait long. */
  #lastSent = 0;

  constructor(pool: LanePool, options: LaneOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /**
   * Runs a command in a thread.
   * @throws the errors that a thread may send (`sentErrors` in disk-errors.ts); StorageUnavailable if the disk does not respond
   */
  run<K extends CommandName>(
    command: K,
    parameters: CommandParameters<K>,
    {
      client,
      moved = [],
      onLateResult,
      onEnd,
      always = false,
      idleTime = this.#options.idleTime ?? defaultIdleTime,
    }: RequestOptions<CommandResult<K>> = {},
  ): Promise<CommandResult<K>> {
    return new Promise((resolve, reject) => {
      if (!always && this.#isHung()) {
        onEnd?.();
        return reject(hungError());
      }
      this.#add({
        lane: this,
        groups: this.#groups(client),
        request: { command, parameters },
        moved,
        canExpire: onLateResult !== undefined,
        always,
        idleTime,
        since: performance.now(),
        isSent: false,
        isExpired: false,
        settle(response: DiskResponse<CommandResult<K>>) {
          onEnd?.();
          if ('error' in response) reject(errorOf(response.error));
          else if (this.isExpired) onLateResult?.(response.value);
          else resolve(response.value);
        },
        expire() {
          if (this.isExpired) return;
          this.isExpired = true;
          if (!this.isSent) onEnd?.();
          reject(hungError());
        },
      });
      this.#pool.dispatch();
    });
  }

  /** Keeps the thread of a lane with `oneThread` alive between two requests. @returns a function that releases the thread */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.#pool.startIdleTimers();
    };
  }

  /** Returns the next request if it may be sent now. */
  next(): PendingRequest | undefined {
    if (this.#inProgress.size >= this.#options.concurrency) return undefined;
    this.#next ??= this.#queue.take();
    return this.#next;
  }

  markSent(pending: PendingRequest, thread: PoolThread): void {
    this.#next = undefined;
    this.#lastSent = pending.since;
    this.#queued.delete(pending);
    this.#inProgress.add(pending);
    this.#thread = thread;
  }

  markAnswered(pending: PendingRequest): void {
    this.#inProgress.delete(pending);
  }

  /** Returns the thread to which all requests of the lane must go, or undefined if any free thread may take them. */
  ownThread(): PoolThread | undefined {
    return this.#options.oneThread && (this.#inProgress.size > 0 || this.#holds > 0) ? this.#thread : undefined;
  }

  /** If the disk hangs, rejects the requests that were not sent to a thread yet, except those with `always`. Rejected ones never run. */
  expireQueued(): void {
    if (!this.#isHung()) return;
    for (const pending of this.#queued) {
      if (pending.always) continue;
      pending.expire();
      this.#queued.delete(pending);
      if (this.#next === pending) this.#next = undefined;
      else this.#queue.remove(pending.groups, pending);
    }
  }

  #add(pending: PendingRequest): void {
    this.#queued.add(pending);
    this.#queue.add(pending.groups, pending);
  }

  /** Returns the groups in which a request of a client waits. */
  #groups(client: StorageClient): readonly string[] {
    let groups = this.#groupsByClient.get(client);
    if (groups) return groups;
    groups = clientGroupsOf(client);
    setAndEvict(this.#groupsByClient, client, groups, maxKnownAddresses);
    return groups;
  }

  #isHung(): boolean {
    const [oldest] = this.#queued;
    if (oldest && this.#pool.isLate(Math.max(oldest.since, this.#lastSent))) return true;
    if (this.#inProgress.size === 0 || (!this.#options.oneThread && this.#inProgress.size < this.#options.concurrency)) return false;
    for (const { since } of this.#inProgress) if (!this.#pool.isLate(since)) return false;
    return true;
  }
}
