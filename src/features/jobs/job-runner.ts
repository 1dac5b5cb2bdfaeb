import type { Ports } from '#ports/ports.ts';
import { isTemporaryStoreError } from '#ports/store.ts';
import {
  type Claim,
  claimJobs,
  completeJob,
  ensureRecurringJob,
  extendClaim,
  failJob,
  releaseAllClaims,
  releaseClaim,
} from './job-queue.ts';

export const defaultPollInterval = 1000; // ms
const idleInterval = 60_000; // ms
const stopTimeout = 5000; // ms that running jobs have left when the process stops
const maxErrorLength = 500; // characters

/** A kind of work that survives a crash. One process at a time runs a job, and repeats it until it succeeds or is given up. */
export interface JobKind {
  readonly name: string;
  /** ms from the end of a run to the next; null: a job runs once each time it is enqueued. */
  readonly every: number | null;
  /** How many jobs of the kind one process runs at a time. */
  readonly concurrency: number;
  /** ms after which another process may run the job if this process has ended or hangs. */
  readonly lease: number;
  /** ms before the next attempt, by the number of failures; the last pause repeats. */
  readonly pauses: readonly [number, ...number[]];
  /** Attempts after which a job is given up; null: never. */
  readonly maxAttempts: number | null;
  /** Returns whether a due job has anything to do, by a cheap read. If not, it runs a minute later. */
  hasWork?(): Promise<boolean>;
  /** @param signal aborts when the claim is lost or the process stops: no further effect may follow */
  run(job: Pick<Claim, 'key' | 'payload' | 'attempts'>, signal: AbortSignal): Promise<void>;
}

/** Logs a failure of a job or of the database for the operator. */
export type JobLog = (message: string) => void;

/** Runs jobs until it is disposed of. */
export interface JobRunner extends AsyncDisposable {
  /** Looks for due jobs now. Call it after a change that enqueued a job. */
  wake(): void;
}

const pauseAfter = ({ pauses, maxAttempts }: JobKind, attempts: number): number | null =>
  maxAttempts !== null && attempts >= maxAttempts ? null : (pauses[Math.min(attempts, pauses.length) - 1] ?? pauses[0]);

const errorText = (cause: unknown) => (cause instanceof Error ? cause.message : 'unknown error').slice(0, maxErrorLength);

/** Claims due jobs of some kinds and runs them. Claims use the database's time, so a process with a wrong clock claims nothing early. */
export class ScheduledJobs implements JobRunner {
  readonly #ports: Pick<Ports, 'store' | 'process'>;
  readonly #kinds: readonly JobKind[];
  readonly #log: JobLog;
  readonly #running = new Map<Promise<void>, { readonly claim: Claim; readonly stop: AbortController }>();
  readonly #timer: NodeJS.Timeout;
  #polling: Promise<void> | null = null;
  #stopped = false;
  #isStoreUnavailable = false;

  /** @param pollInterval ms between two searches for due jobs */
  constructor(ports: Pick<Ports, 'store' | 'process'>, kinds: readonly JobKind[], log: JobLog, pollInterval = defaultPollInterval) {
    this.#ports = ports;
    this.#kinds = kinds;
    this.#log = log;
    this.#timer = setInterval(() => this.wake(), pollInterval).unref();
  }

  /**
   * Adds missing recurring jobs, due after their interval, and starts to run due jobs. If no other process can use the database, first
   * releases all claims: only a process that has ended can have left them.
   */
  async start(): Promise<this> {
    if (!this.#ports.store.isShared) await releaseAllClaims(this.#ports);
    for (const { name, every } of this.#kinds) if (every !== null) await ensureRecurringJob(this.#ports, name, every);
    this.wake();
    return this;
  }

  wake(): void {
    if (this.#stopped) return;
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
    });
  }

  async #poll(): Promise<void> {
    try {
      for (const kind of this.#kinds) await this.#claim(kind);
      this.#isStoreUnavailable = false;
    } catch (cause) {
      if (!this.#isStoreUnavailable)
        this.#log(`Scheduled jobs cannot be read from the database: ${errorText(cause)}. They run when the database responds again.`);
      this.#isStoreUnavailable = true;
    }
  }

  async #claim(kind: JobKind): Promise<void> {
    const runningCount = [...this.#running.values()].filter(({ claim }) => claim.kind === kind.name).length;
    if (runningCount >= kind.concurrency || this.#stopped) return;
    // A job without work still runs, a minute late. If `JobCounts.oldest` is far above a minute, no process runs the jobs, or too few.
    const overdue = kind.hasWork && !(await kind.hasWork()) ? idleInterval : 0;
    const times = { lease: kind.lease, overdue, longestPause: Math.max(kind.every ?? 0, ...kind.pauses) };
    const claims = await claimJobs(this.#ports, kind.name, kind.concurrency - runningCount, times);
    for (const claim of claims) this.#begin(kind, claim);
  }

  #begin(kind: JobKind, claim: Claim): void {
    const stop = new AbortController();
    const run = this.#run(kind, claim, stop)
      .catch((cause: unknown) => this.#log(`The outcome of job ${kind.name} could not be stored: ${errorText(cause)}. It runs again.`))
      .finally(() => {
        this.#running.delete(run);
        this.wake();
      });
    this.#running.set(run, { claim, stop });
  }

  async #run(kind: JobKind, claim: Claim, stop: AbortController): Promise<void> {
    const extend = setInterval(() => {
      extendClaim(this.#ports, claim, kind.lease)
        .then((isHeld) => isHeld || stop.abort(new Error('the claim was lost')))
        .catch(() => {}); // the database is unavailable: the claim ends by itself
    }, kind.lease / 3).unref();
    try {
      await kind.run(claim, stop.signal);
    } catch (cause) {
      if (stop.signal.aborted) return;
      // An error of the database does not count as a failure of the job.
      if (isTemporaryStoreError(cause)) return await releaseClaim(this.#ports, claim);
      const pause = pauseAfter(kind, claim.attempts);
      await failJob(this.#ports, claim, errorText(cause), pause);
      const next = pause === null ? 'It is given up.' : `It runs again in ${Math.ceil(pause / 1000)} s.`;
      return this.#log(`Job ${kind.name} has failed: ${errorText(cause)}. ${next}`);
    } finally {
      clearInterval(extend);
    }
    if (!stop.signal.aborted) await completeJob(this.#ports, claim, kind.every);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#polling;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, stopTimeout);
    await Promise.race([Promise.all(this.#running.keys()), late.promise]);
    clearTimeout(timer);
    for (const { claim, stop } of this.#running.values()) {
      stop.abort(new Error('Postern is stopping'));
      await releaseClaim(this.#ports, claim).catch(() => {}); // else the lease ends by itself
    }
  }
}
