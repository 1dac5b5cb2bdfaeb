import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { costQueue } from '#core/cost-queue.ts';
import { StoreAway, StoreFull, type Tx, type WriteOptions, type WriteTurn } from '#ports/store.ts';
import type { Connection } from './connection.ts';
import type { DiskEvents } from './disk-events.ts';
import { isLost } from './errors.ts';
import { sqlite } from './language.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

const largestGroup = 64;
const longestGroup = 20; // ms of work, after which others get their turn of the event loop
const rest = 2; // times as long as a longer change took, in which none of its group runs: the event loop is the others'
const closedIn = 3000; // ms that changes have to run in before the queue is closed
const ours = 'our own';

/** A change that waits: `answer` is set when it has run, and called when it is on disk. */
interface Job {
  /** Groups take turns by the time that their changes take. */
  readonly group: string;
  readonly change: (tx: Tx) => Promise<unknown>;
  readonly dryRun: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  answer: () => void;
}

/** The one queue for changes to a SQLite file. */
export interface WriteQueue {
  write<T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions): Promise<T>;
  /** Runs `work` while no change is under way and none begins. */
  pause(work: () => Promise<void>): Promise<void>;
  /** Waits until all that is visible is on disk. */
  sync(): Promise<void>;
  /** Takes nothing more, and refuses what does not run in time: it was asked for by requests that were given up. */
  close(): Promise<void>;
}

/** A change's queries settle at once: one that waits for anything else would hold up everybody. */
async function inOneTurn<T>(change: Promise<T>): Promise<T> {
  let timer: NodeJS.Immediate | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setImmediate(() => reject(new Error('a change awaited something other than its transaction')));
  });
  try {
    return await Promise.race([change, late]);
  } finally {
    clearImmediate(timer);
  }
}

/** What the queue reports, and to whom. */
interface QueueEvents extends DiskEvents {
  /** Changes are visible to every connection. */
  readonly committed: () => void;
}

/**
 * Runs waiting changes in one commit, each in a savepoint of its own, syncs the disk in another thread and answers
 * then, refusals and dry runs included (design: commit).
 */
export function writeQueue(connection: Connection, log: WriteAheadLog, { lost, isFull, full, committed: told }: QueueEvents): WriteQueue {
  const { database } = connection;
  let changing = false;
  const tx = kyselyWithDriver(sqlite, (text, parameters) => {
    if (!changing) throw new Error('a change went on after its end'); // nobody would be told of it
    return connection.run(text, parameters);
  });
  const begin = database.prepare('BEGIN IMMEDIATE');
  const end = database.prepare('COMMIT');
  const enter = database.prepare('SAVEPOINT change');
  const leave = database.prepare('RELEASE change');
  const waiting = costQueue<Job>();
  let committed: Job[] = [];
  let running = false;
  let syncing = false;
  let paused = false;
  let closed = false;
  let group: Promise<void> = Promise.resolve();
  let synced: Promise<void> = Promise.resolve();

  const stopIfLost = (cause: unknown) => {
    if (isLost(cause)) lost(cause);
  };
  const said = (cause: unknown) => (isFull(cause) ? new StoreFull('the disk of the database is full', { cause }) : cause);

  function restAfter(group: string, took: number): void {
    waiting.pause(group);
    setTimeout(() => {
      waiting.resume(group);
      schedule();
    }, rest * took);
  }

  async function runOne(job: Job): Promise<void> {
    const start = performance.now();
    enter.run();
    changing = true;
    let keep = !job.dryRun;
    try {
      const value = await inOneTurn(job.change(tx));
      job.answer = () => job.resolve(value);
    } catch (thrown) {
      const cause = said(thrown);
      stopIfLost(cause);
      keep = false;
      job.answer = () => job.reject(cause);
      if (!database.isTransaction || cause instanceof StoreFull) throw cause; // SQLite rolled the whole group back, or there is room to free
    } finally {
      changing = false;
      const took = performance.now() - start;
      waiting.charge(job.group, took);
      if (took > longestGroup && job.group !== ours) restAfter(job.group, took);
    }
    if (!keep) {
      database.exec('ROLLBACK TO change');
      connection.undone();
    }
    leave.run();
  }

  /** @returns the jobs that it has taken */
  async function commit(from: Iterable<Job>): Promise<readonly Job[]> {
    const jobs: Job[] = [];
    try {
      begin.run();
      for (const job of from) {
        jobs.push(job);
        await runOne(job);
      }
      end.run();
      told();
    } catch (thrown) {
      const cause = said(thrown);
      stopIfLost(cause);
      if (jobs.length === 0) jobs.push(...from); // nothing was begun: they are answered all the same
      if (database.isTransaction) database.exec('ROLLBACK'); // else SQLite has done it
      connection.undone();
      // Freed at most once: what follows finds the disk full again, or succeeds.
      if (cause instanceof StoreFull && full()) await commit(jobs);
      else await retryAlone(jobs, cause);
    }
    return jobs;
  }

  /** A full disk or a deferred key fails the group: each on its own shows whose fault it was. */
  async function retryAlone(jobs: readonly Job[], cause: unknown): Promise<void> {
    if (jobs.length > 1) for (const job of jobs) await commit([job]);
    else for (const job of jobs) job.answer = () => job.reject(cause);
  }

  async function syncCommitted(): Promise<void> {
    if (syncing || committed.length === 0) return;
    syncing = true;
    const jobs = committed;
    committed = [];
    synced = log.sync();
    await synced;
    syncing = false;
    void syncCommitted();
    for (const job of jobs) job.answer();
  }

  function* nextGroup(): Generator<Job> {
    const start = performance.now();
    for (let size = 0; size < largestGroup && (size === 0 || performance.now() - start < longestGroup); size += 1) {
      const job = waiting.take();
      if (!job) return;
      yield job;
    }
  }

  async function runGroup(): Promise<void> {
    committed.push(...(await commit(nextGroup())));
    void syncCommitted();
  }

  function schedule(): void {
    if (running || paused || waiting.isEmpty()) return;
    running = true;
    setImmediate(() => {
      group = runGroup().then(
        () => {
          running = false;
          schedule();
        },
        (cause: unknown) => lost(cause),
      );
    });
  }

  function add<T>(group: string, change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    if (closed) return Promise.reject(new StoreAway('the database is closed'));
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      const kept = async (open: Tx) => {
        result = { value: await change(open) };
      };
      waiting.add(group, { group, change: kept, dryRun, resolve: () => result && resolve(result.value), reject, answer: () => {} });
      schedule();
    });
  }

  function groupOf(turn: WriteTurn): string {
    if (turn === 'job') return ours;
    if ('tenant' in turn) return `tenant ${turn.tenant}`;
    return 'visitor' in turn ? `visitors ${turn.visitor}` : `network ${turn.network}`;
  }
  const sync = () => add(ours, async () => {}, true); // what is visible was committed before it
  function refuseWaiting(): void {
    for (const group of waiting.groups()) waiting.resume(group);
    for (let job = waiting.take(); job; job = waiting.take()) job.reject(new StoreAway('the database is closed'));
  }
  return {
    write: (change, turn, { dryRun = false } = {}) => add(groupOf(turn), change, dryRun),
    async pause(work) {
      paused = true;
      try {
        while (running) await group.then(() => new Promise(setImmediate));
        await work();
      } finally {
        paused = false;
        schedule();
      }
    },
    sync,
    async close() {
      const all = Promise.allSettled([ours, ...waiting.groups()].map((group) => add(group, async () => {}, true)));
      closed = true;
      const timer = setTimeout(refuseWaiting, closedIn);
      await all;
      clearTimeout(timer);
      refuseWaiting();
      while (running || syncing) await Promise.all([group, synced]).then(() => new Promise(setImmediate));
    },
  };
}
