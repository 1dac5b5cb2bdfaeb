import type { DatabaseSync } from 'node:sqlite';
import { costQueue } from '#core/cost-queue.ts';
import { StoreFull, StoreUnavailable, type Tx, type WriteOptions, type WriteTurn } from '#ports/store.ts';
import type { Connection } from './connection.ts';
import type { DiskEvents } from './disk-events.ts';
import { isDatabaseLost } from './errors.ts';
import { LongChangeRests } from './long-change-rests.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';
import { completeInIteration, transactionOn } from './write-transaction.ts';

const maxBatchSize = 64;
const maxBatchTime = 20; // ms of work; then other work gets its turn
const closeTimeout = 3000; // ms for which waiting changes may still run before the queue closes
const jobGroup = 'jobs';

/** A change in the queue. `duration` (ms) and `respond` are set when the change has run; `respond` is called when the change is on disk. */
interface QueuedChange {
  /** Name of its group. Groups take turns by the time that their changes take. */
  readonly group: string;
  readonly change: (tx: Tx) => Promise<unknown>;
  readonly dryRun: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  respond: () => void;
  duration: number;
}

interface QueueEvents extends DiskEvents {
  /** Called when changes have become visible to every connection. */
  readonly onCommit: () => void;
}

function groupOf(turn: WriteTurn): string {
  if (turn === 'job') return jobGroup;
  if ('tenant' in turn) return `tenant ${turn.tenant}`;
  return 'visitor' in turn ? `visitors ${turn.visitor}` : `network ${turn.network}`;
}

const transactionStatements = (database: DatabaseSync) => ({
  begin: database.prepare('BEGIN IMMEDIATE'),
  commit: database.prepare('COMMIT'),
  savepoint: database.prepare('SAVEPOINT change'),
  release: database.prepare('RELEASE change'),
});

/**
 * The queue of all changes to a SQLite database. It runs waiting changes in batches: one commit for each batch, and a savepoint for
 * each change. A thread syncs the log. After that, the promises of all changes are resolved or rejected, including those of dry runs
 * (docs/decisions/0002-group-commit.md).
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #log: WriteAheadLog;
  readonly #events: QueueEvents;
  readonly #tx: Tx;
  readonly #statements: ReturnType<typeof transactionStatements>;
  readonly #waiting = costQueue<QueuedChange>();
  readonly #rests = new LongChangeRests(this.#waiting, () => this.#schedule());
  #unsynced: QueuedChange[] = [];
  #isChangeRunning = false;
  #isBatchRunning = false;
  #isSyncing = false;
  #isPaused = false;
  #isClosed = false;
  #batch: Promise<void> = Promise.resolve();
  #sync: Promise<void> = Promise.resolve();

  constructor(connection: Connection, log: WriteAheadLog, events: QueueEvents) {
    this.#connection = connection;
    this.#log = log;
    this.#events = events;
    this.#tx = transactionOn(connection, () => this.#isChangeRunning);
    this.#statements = transactionStatements(connection.database);
  }

  write<T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, { dryRun = false }: WriteOptions = {}): Promise<T> {
    return this.#add(groupOf(turn), change, dryRun);
  }

  /** Runs `work` while no change runs or starts. */
  async pause(work: () => Promise<void>): Promise<void> {
    this.#isPaused = true;
    try {
      while (this.#isBatchRunning) await this.#batch.then(() => new Promise(setImmediate));
      await work();
    } finally {
      this.#isPaused = false;
      this.#schedule();
    }
  }

  /** Waits until every visible change is on disk. */
  sync(): Promise<void> {
    return this.#add(jobGroup, async () => {}, true); // every visible change was committed before this empty one
  }

  /** Accepts no further changes, and rejects queued changes that do not run in time: no client waits for them any more. */
  async close(): Promise<void> {
    const lastChanges = [jobGroup, ...this.#waiting.groups()].map((group) => this.#add(group, async () => {}, true));
    this.#isClosed = true;
    const timer = setTimeout(() => this.#rejectWaiting(), closeTimeout);
    await Promise.allSettled(lastChanges);
    clearTimeout(timer);
    this.#rejectWaiting();
    while (this.#isBatchRunning || this.#isSyncing) await Promise.all([this.#batch, this.#sync]).then(() => new Promise(setImmediate));
  }

  #add<T>(group: string, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the database is closed'));
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      const runChange = async (tx: Tx) => {
        result = { value: await change(tx) };
      };
      const resolveResult = () => result && resolve(result.value);
      this.#waiting.add(group, { group, change: runChange, dryRun, resolve: resolveResult, reject, respond: () => {}, duration: 0 });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isBatchRunning || this.#isPaused || this.#waiting.isEmpty()) return;
    this.#isBatchRunning = true;
    setImmediate(() => {
      this.#batch = this.#runBatch().then(
        () => {
          this.#isBatchRunning = false;
          this.#schedule();
        },
        (cause: unknown) => this.#events.onLost(cause),
      );
    });
  }

  async #runBatch(): Promise<void> {
    this.#unsynced.push(...(await this.#commit(this.#nextBatch())));
    void this.#syncCommitted();
  }

  *#nextBatch(): Generator<QueuedChange> {
    const start = performance.now();
    for (let size = 0; size < maxBatchSize && (size === 0 || performance.now() - start < maxBatchTime); size += 1) {
      const queued = this.#waiting.take();
      if (!queued) return;
      yield queued;
    }
  }

  /** Runs changes in one commit. @returns the changes that it took from `source` */
  async #commit(source: Iterable<QueuedChange>): Promise<readonly QueuedChange[]> {
    const changes: QueuedChange[] = [];
    try {
      this.#statements.begin.run();
      for (const queued of source) {
        changes.push(queued);
        await this.#runOne(queued);
      }
      const start = performance.now();
      this.#statements.commit.run();
      this.#events.onCommit();
      this.#rests.begin(
        changes.filter(({ group }) => group !== jobGroup),
        performance.now() - start,
      );
    } catch (thrown) {
      const cause = this.#storeError(thrown);
      // If BEGIN failed: takes the changes of the batch, so that they are retried or rejected.
      if (changes.length === 0) changes.push(...source);
      const { database } = this.#connection;
      if (database.isTransaction) database.exec('ROLLBACK'); // else SQLite has rolled back
      this.#connection.invalidateChanged();
      // Space is freed at most once: the next attempt succeeds, or finds the disk full again.
      if (cause instanceof StoreFull && this.#events.freeSpace()) await this.#commit(changes);
      else await this.#retryEach(changes, cause);
    }
    return changes;
  }

  async #runOne(queued: QueuedChange): Promise<void> {
    const start = performance.now();
    this.#statements.savepoint.run();
    this.#isChangeRunning = true;
    let keepsChange = !queued.dryRun;
    try {
      const value = await completeInIteration(queued.change(this.#tx));
      queued.respond = () => queued.resolve(value);
    } catch (thrown) {
      const cause = this.#storeError(thrown);
      keepsChange = false;
      queued.respond = () => queued.reject(cause);
      // The batch fails if SQLite has rolled all of it back. It also fails if the disk is full: `#commit` may free space and retry it.
      if (!this.#connection.database.isTransaction || cause instanceof StoreFull) throw cause;
    } finally {
      this.#isChangeRunning = false;
      queued.duration = performance.now() - start;
      this.#waiting.charge(queued.group, queued.duration);
    }
    if (!keepsChange) {
      this.#connection.database.exec('ROLLBACK TO change');
      this.#connection.invalidateChanged();
    }
    this.#statements.release.run();
  }

  /** Commits each change of a failed batch alone, so that only those that caused the failure are rejected. Rejects a lone change. */
  async #retryEach(changes: readonly QueuedChange[], cause: unknown): Promise<void> {
    if (changes.length > 1) for (const queued of changes) await this.#commit([queued]);
    else for (const queued of changes) queued.respond = () => queued.reject(cause);
  }

  async #syncCommitted(): Promise<void> {
    if (this.#isSyncing || this.#unsynced.length === 0) return;
    this.#isSyncing = true;
    const changes = this.#unsynced;
    this.#unsynced = [];
    this.#sync = this.#log.sync();
    await this.#sync;
    this.#isSyncing = false;
    void this.#syncCommitted();
    for (const queued of changes) queued.respond();
  }

  /** Returns the error of the store for an error of SQLite. Reports it if the database is lost. */
  #storeError(cause: unknown): unknown {
    if (this.#events.isOutOfSpace(cause)) return new StoreFull('the disk of the database is full', { cause });
    if (isDatabaseLost(cause)) this.#events.onLost(cause);
    return cause;
  }

  #rejectWaiting(): void {
    for (const group of this.#waiting.groups()) this.#waiting.resume(group);
    for (let queued = this.#waiting.take(); queued; queued = this.#waiting.take())
      queued.reject(new StoreUnavailable('the database is closed'));
  }
}
