import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

type QueuePorts = Pick<Ports, 'store' | 'process'>;

/** A process's claim of a job. The process may complete, fail or release the job only until it is claimed again. */
export interface Claim {
  readonly kind: string;
  readonly key: string;
  readonly payload: string;
  readonly attempts: number;
  readonly generation: number;
}

/** Jobs of one kind, as metrics and readiness show them. */
export interface JobCounts {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  /** Jobs that were given up. */
  readonly failed: number;
  /** How long the oldest waiting job has been due, in ms. */
  readonly oldest: number;
}

/** Ignores a lease that ends too late: it was stored while the clock of the database was ahead. */
const isUnclaimed = ({ store: { dialect } }: QueuePorts, lease: number) =>
  sql<boolean>`(lease_until is null or lease_until < ${dialect.now} or lease_until > ${dialect.now} + ${2 * lease})`;
/**
 * @param overdue ms for which the job must have been due
 * @param longestPause ms: a job that is due in more than twice this time was scheduled while the clock of the database was ahead
 */
const isDue = ({ store: { dialect } }: QueuePorts, overdue: number, longestPause: number) =>
  sql<boolean>`(due_at <= ${dialect.now} - ${overdue} or due_at > ${dialect.now} + ${2 * longestPause})`;
const timeAfter = ({ store }: QueuePorts, ms: number) => sql<number>`${store.dialect.now} + ${ms}`;

/**
 * Adds a job in the transaction of the change that causes it. If a job of this kind and key exists, it gets the new payload
 * and the earlier of the two due times. A job that was given up gets the new due time, and runs again.
 * @param delay ms before it runs
 */
export async function enqueueJob(
  ports: QueuePorts,
  tx: Tx,
  {
    kind,
    key,
    payload = '',
    delay = 0,
  }: { readonly kind: string; readonly key: string; readonly payload?: string; readonly delay?: number },
): Promise<void> {
  const { now } = ports.store.dialect;
  const due_at = timeAfter(ports, delay);
  const values = { kind, key, payload, due_at, attempts: 0, generation: 0, holder: null, lease_until: null, error: '', failed_at: null };
  await tx
    .insertInto('job')
    .values({ ...values, created_at: now })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'key']).doUpdateSet((job) => ({
        payload,
        generation: job('job.generation', '+', 1),
        due_at: sql<number>`case when job.failed_at is null and job.due_at < excluded.due_at then job.due_at else excluded.due_at end`,
        attempts: sql<number>`case when job.failed_at is null then job.attempts else 0 end`,
        failed_at: null,
      })),
    )
    .execute();
}

/** Adds a recurring job if no process has added it yet. @param delay ms before its first run */
export async function ensureRecurringJob(ports: QueuePorts, kind: string, delay = 0): Promise<void> {
  await ports.store.write(async (tx) => {
    const existing = await tx.selectFrom('job').select('kind').where('kind', '=', kind).where('key', '=', '').executeTakeFirst();
    if (!existing) await enqueueJob(ports, tx, { kind, key: '', delay });
  }, 'job');
}

/**
 * Claims due jobs of a kind, the oldest first.
 * @param times in ms. `lease`: how long no other process may run the jobs. `overdue`: only jobs that have been due for at least this
 *   time. `longestPause`: the longest time between two runs of this kind
 */
export async function claimJobs(
  ports: QueuePorts,
  kind: string,
  maxJobs: number,
  { lease, overdue, longestPause }: { readonly lease: number; readonly overdue: number; readonly longestPause: number },
): Promise<Claim[]> {
  const dueJobs = (db: Tx) =>
    db
      .selectFrom('job')
      .select('key')
      .where('kind', '=', kind)
      .where('failed_at', 'is', null)
      .where(isDue(ports, overdue, longestPause))
      .where(isUnclaimed(ports, lease))
      .orderBy('due_at')
      .limit(maxJobs);
  // A read first: a write transaction every second would cost more.
  if ((await dueJobs(ports.store.read).execute()).length === 0) return [];
  return ports.store.write(async (tx) => {
    const keys = (await dueJobs(tx).execute()).map(({ key }) => key);
    if (keys.length === 0) return [];
    return tx
      .updateTable('job')
      .set((job) => ({ holder: ports.process, lease_until: timeAfter(ports, lease), attempts: job('attempts', '+', 1) }))
      .where('kind', '=', kind)
      .where('key', 'in', keys)
      .returning(['kind', 'key', 'payload', 'attempts', 'generation'])
      .execute();
  }, 'job');
}

/** Returns an update of the job's row that has no effect if the claim is lost. */
const updateIfClaimed = ({ process }: QueuePorts, tx: Tx, { kind, key, attempts }: Claim) =>
  tx.updateTable('job').where('kind', '=', kind).where('key', '=', key).where('holder', '=', process).where('attempts', '=', attempts);

/** Extends a claim. @returns false if the job was claimed again meanwhile: this run must stop */
export async function extendClaim(ports: QueuePorts, claim: Claim, lease: number): Promise<boolean> {
  const [result] = await ports.store.write(
    (tx) =>
      updateIfClaimed(ports, tx, claim)
        .set({ lease_until: timeAfter(ports, lease) })
        .execute(),
    'job',
  );
  return Number(result?.numUpdatedRows) === 1;
}

/** Ends a claim after success. @param every ms until a recurring job runs again; null: the job is done */
export async function completeJob(ports: QueuePorts, claim: Claim, every: number | null): Promise<void> {
  const releasedColumns = { holder: null, lease_until: null, error: '', attempts: 0 };
  await ports.store.write(async (tx) => {
    if (every !== null)
      return void (await updateIfClaimed(ports, tx, claim)
        .set({ ...releasedColumns, due_at: timeAfter(ports, every) })
        .execute());
    await tx
      .deleteFrom('job')
      .where('kind', '=', claim.kind)
      .where('key', '=', claim.key)
      .where('holder', '=', ports.process)
      .where('attempts', '=', claim.attempts)
      .where('generation', '=', claim.generation)
      .execute();
    await updateIfClaimed(ports, tx, claim).set(releasedColumns).execute(); // the job still exists if it was enqueued again while it ran
  }, 'job');
}

/** Ends a claim after a failure. @param pause ms until the next attempt; null: gives the job up, unless it was enqueued again meanwhile */
export async function failJob(ports: QueuePorts, claim: Claim, error: string, pause: number | null): Promise<void> {
  const isLast = sql`generation = ${claim.generation}`;
  const giveUp = {
    failed_at: sql<number | null>`case when ${isLast} then ${ports.store.dialect.now} end`,
    attempts: sql<number>`case when ${isLast} then attempts else 0 end`,
  };
  const next = pause === null ? giveUp : { due_at: timeAfter(ports, pause) };
  await ports.store.write(
    (tx) =>
      updateIfClaimed(ports, tx, claim)
        .set({ holder: null, lease_until: null, error, ...next })
        .execute(),
    'job',
  );
}

/** Releases a claim, so that any process can run the job before the lease ends. The attempt does not count. */
export async function releaseClaim(ports: QueuePorts, claim: Claim): Promise<void> {
  await ports.store.write(
    (tx) =>
      updateIfClaimed(ports, tx, claim)
        .set((job) => ({ holder: null, lease_until: null, attempts: job('attempts', '-', 1) }))
        .execute(),
    'job',
  );
}

/** Releases all claims. Only for a database that no other process uses: the processes that held the claims have ended. */
export async function releaseAllClaims({ store }: Pick<Ports, 'store'>): Promise<void> {
  const claimedJob = await store.read.selectFrom('job').select('kind').where('lease_until', 'is not', null).limit(1).executeTakeFirst();
  if (!claimedJob) return;
  await store.write((tx) => tx.updateTable('job').set({ holder: null, lease_until: null }).execute(), 'job');
}

/** Returns the numbers of jobs by kind. Kinds without jobs are omitted. */
export async function countJobs({ store }: Pick<Ports, 'store'>): Promise<JobCounts[]> {
  const { now } = store.dialect;
  const isRunning = sql`lease_until is not null and lease_until >= ${now}`;
  const isWaiting = sql`failed_at is null and not coalesce(${isRunning}, ${sql.lit(false)})`;
  const countOf = (condition: ReturnType<typeof sql>) => sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`;
  const rows = await store.read
    .selectFrom('job')
    .select([
      'kind',
      countOf(isWaiting).as('waiting'),
      countOf(sql`failed_at is null and ${isRunning}`).as('running'),
      countOf(sql`failed_at is not null`).as('failed'),
      sql<number>`coalesce(max(case when ${isWaiting} then ${now} - due_at end), 0)`.as('oldest'),
    ])
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return rows.map(({ kind, waiting, running, failed, oldest }) => ({
    kind,
    waiting: Number(waiting),
    running: Number(running),
    failed: Number(failed),
    oldest: Math.max(0, Number(oldest)),
  }));
}
