import type { IdleThread, ThreadOwner } from '#adapters/os/idle-thread.ts';
import type { DiskResponse } from './run-request.ts';
import { defaultIdleTime, Lane, type LaneOptions, type PendingRequest, type PoolThread } from './thread-lane.ts';

const checkInterval = 1000; // ms
/** Time for which a request waits for a busy thread before another thread starts, in ms: a start costs as much as thousands of requests. */
const growAfter = 20;
/** Used instead of `growAfter` while a thread of the pool is still starting, in ms. */
const growAfterStart = 250;

/**
 * Maximum time for sending requests in one iteration of the event loop, in ms. A thread can answer while the previous response is being
 * processed. Without this limit, responses of transfers would occupy the event loop for 100 ms without a break.
 */
const maxSendTime = 1;

/** Limits the number of additional threads of several pools. */
export class ThreadBudget {
  #free: number;
  constructor(threads: number) {
    this.#free = threads;
  }
  /** Reserves one more thread. The caller must call `release` when the thread has ended. @returns false if no more thread may start */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }
  /** Ends the reservation of a thread. */
  release(): void {
    this.#free += 1;
  }
}

interface PoolOptions {
  readonly openThread: (owner: ThreadOwner<DiskResponse>) => IdleThread;
  /** For additional threads. Every pool may have one thread without it. */
  readonly budget: ThreadBudget;
  /** `responseTimeout`: time after which a disk that does not respond counts as unavailable, in ms. */
  readonly settings: { readonly responseTimeout: number };
}

/** Lets a thread end after an idle time, but not before the idle time of an earlier request has passed. @param idleTime ms */
function startIdleTimer(thread: PoolThread, idleTime: number): void {
  const now = performance.now();
  const remaining = thread.idleUntil - now;
  if (idleTime >= remaining) thread.idleUntil = now + idleTime;
  thread.thread.startIdleTimer(Math.max(idleTime, remaining));
}

const endedResponse: DiskResponse = { error: { kind: 'StorageUnavailable', message: 'the thread of the location has ended' } };

/**
 * The threads of one location, or those that check folders. A disk that hangs blocks the threads of its own pool only: most requests that
 * wait too long fail, and most new ones fail at once until the disk responds again. Usually one thread does all the work; more start when
 * requests have to wait for it.
 */
export class ThreadPool implements AsyncDisposable {
  readonly options: PoolOptions;
  readonly #lanes: Lane[] = [];
  #threads: PoolThread[] = [];
  #checkTimer: NodeJS.Timeout | undefined;
  #growTimer: NodeJS.Timeout | undefined;
  /** When `dispatch` was first called in this iteration of the event loop, in ms; null: not yet. */
  #iterationStart: number | null = null;
  /** Whether requests wait for the next iteration. */
  #isPostponed = false;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  /** Adds a lane: a kind of work. Lanes that were added first get a free thread first. */
  addLane(options: LaneOptions): Lane {
    const lane = new Lane(this, options);
    this.#lanes.push(lane);
    return lane;
  }

  /** Returns whether a thread has a request that it has not answered within `responseTimeout`. */
  isBlocked(): boolean {
    return this.#threads.some(({ sent: [oldest] }) => oldest !== undefined && this.isLate(oldest.since));
  }

  isLate(since: number): boolean {
    return performance.now() - since > this.options.settings.responseTimeout;
  }

  /** Ends the threads. Waits at most two seconds for one that the disk blocks: it ends with the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#checkTimer);
    clearTimeout(this.#growTimer);
    await Promise.all(this.#threads.map(({ thread }) => thread[Symbol.asyncDispose]()));
  }

  /** Sends queued requests to free threads, or to the thread that their lane must use, or later if the time for this iteration is over. */
  dispatch(): void {
    this.#iterationStart ??= this.#startIteration();
    this.#isPostponed = performance.now() - this.#iterationStart > maxSendTime;
    if (this.#isPostponed) return;
    for (const lane of this.#lanes)
      for (let next = lane.next(); next; next = lane.next()) {
        const thread = this.#threadFor(lane);
        if (!thread) break;
        next.since = performance.now();
        next.isSent = true;
        lane.markSent(next, thread);
        thread.sent.push(next);
        thread.thread.post(next.request, next.moved);
      }
    if (this.#waitingLane()) this.#growTimer ??= setTimeout(() => this.#grow(), growAfter).unref();
    this.#checkTimer ??= setTimeout(() => this.#expireLate(), checkInterval).unref();
  }

  #startIteration(): number {
    setImmediate(() => {
      this.#iterationStart = null;
      if (this.#isPostponed) this.dispatch();
    });
    return performance.now();
  }

  startIdleTimers(): void {
    for (const thread of this.#threads) if (thread.sent.length === 0) startIdleTimer(thread, defaultIdleTime);
  }

  #threadFor(lane: Lane): PoolThread | undefined {
    const ownThread = lane.ownThread();
    if (ownThread && this.#threads.includes(ownThread)) return ownThread;
    return this.#threads.find(({ sent }) => sent.length === 0) ?? (this.#threads.length === 0 ? this.#addThread(false) : undefined);
  }

  /** Returns a lane whose next request waits for a free thread. */
  #waitingLane(): Lane | undefined {
    return this.#lanes.find((lane) => lane.next() !== undefined);
  }

  /** Starts another thread if a request has waited for one. */
  #grow(): void {
    this.#growTimer = undefined;
    const isStarting = this.#threads.some(({ hasAnswered }) => !hasAnswered);
    const waitingSince = this.#waitingLane()?.next()?.since ?? Number.POSITIVE_INFINITY;
    const hasWaited = performance.now() - waitingSince >= (isStarting ? growAfterStart : growAfter);
    if (hasWaited && this.options.budget.take()) this.#addThread(true);
    this.dispatch();
  }

  #addThread(isAdditional: boolean): PoolThread {
    const poolThread: PoolThread = {
      ...{ sent: [], isAdditional, hasAnswered: false, idleUntil: 0 },
      thread: this.options.openThread({
        receive: (response) => {
          poolThread.hasAnswered = true;
          this.#settle(poolThread, poolThread.sent.splice(0, 1), response);
        },
        rejectPending: () => this.#settle(poolThread, poolThread.sent.splice(0), endedResponse),
        isIdle: () => poolThread.sent.length === 0 && this.#lanes.every((lane) => lane.ownThread() !== poolThread),
        onEnd: () => this.#remove(poolThread),
      }),
    };
    this.#threads.push(poolThread);
    return poolThread;
  }

  #settle(thread: PoolThread, requests: readonly PendingRequest[], response: DiskResponse): void {
    for (const pending of requests) {
      pending.lane.markAnswered(pending);
      pending.settle(response);
    }
    if (thread.sent.length === 0) startIdleTimer(thread, requests.at(-1)?.idleTime ?? 0);
    this.dispatch();
  }

  #remove(endedThread: PoolThread): void {
    if (!this.#threads.includes(endedThread)) return;
    this.#threads = this.#threads.filter((thread) => thread !== endedThread);
    if (endedThread.isAdditional) this.options.budget.release();
  }

  /** Fails the requests that have waited too long, and later ones to the same thread, unless their caller must wait for the thread. */
  #expireLate(): void {
    this.#checkTimer = undefined;
    for (const { sent } of this.#threads)
      if (sent[0] && this.isLate(sent[0].since)) for (const pending of sent) if (pending.canExpire) pending.expire();
    for (const lane of this.#lanes) lane.expireQueued();
    if (this.#threads.some(({ sent }) => sent.length > 0)) this.#checkTimer = setTimeout(() => this.#expireLate(), checkInterval).unref();
  }
}
