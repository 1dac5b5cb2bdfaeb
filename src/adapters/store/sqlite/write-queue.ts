import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { costQueue } from '#core/cost-queue.ts';
import { StoreFull, StoreUnavailable, type Tx, type WriteOptions, type WriteTurn } from '#ports/store.ts';
import type { Connection } from './connection.ts';
import type { DiskEvents } from './disk-events.ts';
import { isDatabaseLost } from './errors.ts';
import { sqliteDialect } from './language.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

const maxBatchSize = 64;
const maxBatchTime = 20; // ms of work; then other work gets its turn of the event loop
const restFactor = 2; // a change longer than that pauses its group for this many times its duration, to free the event loop
const closeTimeout = 3000; // ms that waiting changes have to run before the queue closes
const jobGroup = 'our own';

/** A change in the queue. `answer` is set when the change has run, and called when it is on disk. */
interface QueuedChange {
  /** Groups take turns by the time that their changes take. */
  readonly group: string;
  readonly change: (tx: Tx) => Promise<unknown>;
  readonly dryRun: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  answer: () => void;
}

/** The queue of all changes to a SQLite database. */
export interface WriteQueue {
  write<T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions): Promise<T>;
  /** Runs `work` while no change runs or starts. */
  pause(work: () => Promise<void>): Promise<void>;
  /** Waits until every visible change is on disk. */
  sync(): Promise<void>;
  /** Accepts no further changes, and rejects those that do not run in time: their clients no longer wait. */
  close(): Promise<void>;
}

/**
 * Rejects if a change does not settle within this turn of the event loop. Queries of its transaction settle at once; a
 * change that awaits anything else would block all others.
 */
async function settleInTurn<T>(change: Promise<T>): Promise<T> {
  let timer: NodeJS.Immediate | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setImmediate(() => reject(new Error('a change awaited something other than its transaction')));
  });
  try {
    return await Promise.race([change, timeout]);
  } finally {
    clearImmediate(timer);
  }
}

/** Callbacks of the queue. */
interface QueueEvents extends DiskEvents {
  /** Called when changes have become visible to every connection. */
  readonly committed: () => void;
}

/**
 * Returns a queue that runs waiting changes in batches: one commit for each batch, and a savepoint for each change. It
 * syncs the log in another thread, and settles the changes afterwards, including rejected changes and dry runs (design:
 * commit).
 */
export function writeQueue(connection: Connection, log: WriteAheadLog, events: QueueEvents): WriteQueue {
  const { onLost: lost, isFull, freeSpace: full, committed: onCommitted } = events;
  const { database } = connection;
  let isChangeRunning = false;
  const tx = kyselyWithDriver(sqliteDialect, (text, parameters) => {
    if (!isChangeRunning) throw new Error('a change ran a query after it had ended'); // its result could not be reported
    return connection.run(text, parameters);
  });
  const beginStatement = database.prepare('BEGIN IMMEDIATE');
  const commitStatement = database.prepare('COMMIT');
  const savepointStatement = database.prepare('SAVEPOINT change');
  const releaseStatement = database.prepare('RELEASE change');
  const waiting = costQueue<QueuedChange>();
  let unsynced: QueuedChange[] = [];
  let isBatchRunning = false;
  let isSyncing = false;
  let isPaused = false;
  let isClosed = false;
  let batch: Promise<void> = Promise.resolve();
  let sync: Promise<void> = Promise.resolve();

  const stopIfLost = (cause: unknown) => {
    if (isDatabaseLost(cause)) lost(cause);
  };
  const storeError = (cause: unknown) => (isFull(cause) ? new StoreFull('the disk of the database is full', { cause }) : cause);

  function pauseGroup(group: string, changeTime: number): void {
    waiting.pause(group);
    setTimeout(() => {
      waiting.resume(group);
      schedule();
    }, restFactor * changeTime);
  }

  async function runOne(queued: QueuedChange): Promise<void> {
    const start = performance.now();
    savepointStatement.run();
    isChangeRunning = true;
    let keepsChange = !queued.dryRun;
    try {
      const value = await settleInTurn(queued.change(tx));
      queued.answer = () => queued.resolve(value);
    } catch (thrown) {
      const cause = storeError(thrown);
      stopIfLost(cause);
      keepsChange = false;
      queued.answer = () => queued.reject(cause);
      // The batch fails if SQLite has rolled all of it back, or if the disk is full, since there may be space to free.
      if (!database.isTransaction || cause instanceof StoreFull) throw cause;
    } finally {
      isChangeRunning = false;
      const duration = performance.now() - start;
      waiting.charge(queued.group, duration);
      if (duration > maxBatchTime && queued.group !== jobGroup) pauseGroup(queued.group, duration);
    }
    if (!keepsChange) {
      database.exec('ROLLBACK TO change');
      connection.invalidateChanged();
    }
    releaseStatement.run();
  }

  /** Runs changes in one commit. @returns the changes that it took from `source` */
  async function commit(source: Iterable<QueuedChange>): Promise<readonly QueuedChange[]> {
    const changes: QueuedChange[] = [];
    try {
      beginStatement.run();
      for (const queued of source) {
        changes.push(queued);
        await runOne(queued);
      }
      commitStatement.run();
      onCommitted();
    } catch (thrown) {
      const cause = storeError(thrown);
      stopIfLost(cause);
      if (changes.length === 0) changes.push(...source); // BEGIN failed: the waiting changes must be settled too
      if (database.isTransaction) database.exec('ROLLBACK'); // else SQLite has rolled back
      connection.invalidateChanged();
      // Space is freed at most once: the next attempt succeeds, or finds the disk full again.
      if (cause instanceof StoreFull && full()) await commit(changes);
      else await retryEach(changes, cause);
    }
    return changes;
  }

  /** Commits each change of a failed batch alone: only the change that filled the disk or broke a deferred key fails again. */
  async function retryEach(changes: readonly QueuedChange[], cause: unknown): Promise<void> {
    if (changes.length > 1) for (const queued of changes) await commit([queued]);
    else for (const queued of changes) queued.answer = () => queued.reject(cause);
  }

  async function syncCommitted(): Promise<void> {
    if (isSyncing || unsynced.length === 0) return;
    isSyncing = true;
    const changes = unsynced;
    unsynced = [];
    sync = log.sync();
    await sync;
    isSyncing = false;
    void syncCommitted();
    for (const queued of changes) queued.answer();
  }

  function* nextBatch(): Generator<QueuedChange> {
    const start = performance.now();
    for (let size = 0; size < maxBatchSize && (size === 0 || performance.now() - start < maxBatchTime); size += 1) {
      const queued = waiting.take();
      if (!queued) return;
      yield queued;
    }
  }

  async function runBatch(): Promise<void> {
    unsynced.push(...(await commit(nextBatch())));
    void syncCommitted();
  }

  function schedule(): void {
    if (isBatchRunning || isPaused || waiting.isEmpty()) return;
    isBatchRunning = true;
    setImmediate(() => {
      batch = runBatch().then(
        () => {
          isBatchRunning = false;
          schedule();
        },
        (cause: unknown) => lost(cause),
      );
    });
  }

  function add<T>(group: string, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    if (isClosed) return Promise.reject(new StoreUnavailable('the database is closed'));
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      const runChange = async (open: Tx) => {
        result = { value: await change(open) };
      };
      waiting.add(group, { group, change: runChange, dryRun, resolve: () => result && resolve(result.value), reject, answer: () => {} });
      schedule();
    });
  }

  function groupOf(turn: WriteTurn): string {
    if (turn === 'job') return jobGroup;
    if ('tenant' in turn) return `tenant ${turn.tenant}`;
    return 'visitor' in turn ? `visitors ${turn.visitor}` : `network ${turn.network}`;
  }
  function rejectWaiting(): void {
    for (const group of waiting.groups()) waiting.resume(group);
    for (let queued = waiting.take(); queued; queued = waiting.take()) queued.reject(new StoreUnavailable('the database is closed'));
  }
  return {
    write: (change, turn, { dryRun = false } = {}) => add(groupOf(turn), change, dryRun),
    async pause(work) {
      isPaused = true;
      try {
        while (isBatchRunning) await batch.then(() => new Promise(setImmediate));
        await work();
      } finally {
        isPaused = false;
        schedule();
      }
    },
    sync: () => add(jobGroup, async () => {}, true), // every visible change was committed before this empty one
    async close() {
      const lastChanges = Promise.allSettled([jobGroup, ...waiting.groups()].map((group) => add(group, async () => {}, true)));
      isClosed = true;
      const timer = setTimeout(rejectWaiting, closeTimeout);
      await lastChanges;
      clearTimeout(timer);
      rejectWaiting();
      while (isBatchRunning || isSyncing) await Promise.all([batch, sync]).then(() => new Promise(setImmediate));
    },
  };
}
