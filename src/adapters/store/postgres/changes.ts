import { fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { keyedMutex } from '#adapters/store/keyed-mutex.ts';
import type { Tx, WriteOptions, WriteTurn } from '#ports/store.ts';
import { isWriteConflict } from './errors.ts';
import { advisoryLocks } from './locks.ts';
import type { ConnectionPool } from './pool.ts';
import { transactionRunner } from './transactions.ts';

const maxQueuedTries = 3; // a retried change of a tenant runs alone in it, so mostly changes of visitors and jobs conflict with it
const maxLockIdle = 10_000; // ms after which a process that hangs no longer blocks the other processes

/** How many changes of each kind run at once. */
interface ChangeLimits {
  readonly changesOfTenants: number;
  readonly changesOfOneTenant: number;
  readonly changesOfVisitors: number;
  /** Changes that count a sign-in attempt. */
  readonly attempts: number;
}

/** Returns the name of the retry queue for a change: each tenant and each network of visitors has one, and all jobs share one. */
function retryQueueOf(turn: WriteTurn): string {
  if (turn === 'job') return 'changes of jobs';
  if ('tenant' in turn) return `changes of tenant ${turn.tenant}`;
  return `changes of visitors, network ${'visitor' in turn ? turn.visitor : turn.network}`;
}

/** Runs a change, and runs it again after a conflict with another change. */
export type RunChange = <T>(change: (tx: Tx) => Promise<T>, turn: WriteTurn, options?: WriteOptions) => Promise<T>;

/**
 * Returns a function that runs changes concurrently. A change that conflicted with another is retried from the queue of its tenant, of its
 * network of visitors, or of all jobs. While a change of a tenant runs from the queue, no other change of the tenant runs in any process,
 * and further changes of the tenant in this process join the queue. Changes of other tenants and networks do not wait for it. A change
 * that keeps conflicting runs while no other change runs at all.
 * @param queueConnections connections for the locks of the retry queues: one for each queue whose change runs
 */
export function changeRunner(connections: ConnectionPool, queueConnections: ConnectionPool, limits: ChangeLimits): RunChange {
  const transact = transactionRunner(connections);
  const runForTenant = fairScheduler(limits.changesOfTenants, limits.changesOfOneTenant);
  const runForVisitor = fairScheduler(limits.changesOfVisitors);
  const runForNetwork = fairScheduler(limits.attempts);
  const runSerially = keyedMutex();
  const withQueueLock = advisoryLocks(queueConnections, maxLockIdle);
  const queueLengths = new Map<string, number>();

  function runInTurn<T>(run: () => Promise<T>, turn: WriteTurn): Promise<T> {
    if (turn === 'job') return run();
    if ('tenant' in turn) return runForTenant(`${turn.tenant}`, run);
    return 'visitor' in turn ? runForVisitor(turn.visitor, run) : runForNetwork(turn.network, run);
  }

  async function retry<T>(change: (tx: Tx) => Promise<T>, dryRun: boolean): Promise<T> {
    for (let tries = 1; tries <= maxQueuedTries; tries += 1) {
      try {
        return await transact.concurrent()(change, dryRun);
      } catch (cause) {
        if (!isWriteConflict(cause)) throw cause;
      }
    }
    return transact.exclusive(change, dryRun);
  }

  async function runFromQueue<T>(queue: string, work: () => Promise<T>): Promise<T> {
    queueLengths.set(queue, (queueLengths.get(queue) ?? 0) + 1);
    try {
      return await runSerially(queue, work);
    } finally {
      const remaining = (queueLengths.get(queue) ?? 1) - 1;
      if (remaining > 0) queueLengths.set(queue, remaining);
      else queueLengths.delete(queue);
    }
  }

  return async (change, turn, { dryRun = false } = {}) => {
    const queue = retryQueueOf(turn);
    const isOfTenant = turn !== 'job' && 'tenant' in turn;
    if (!isOfTenant || !queueLengths.has(queue))
      try {
        return await runInTurn(() => transact.concurrent(isOfTenant ? queue : undefined)(change, dryRun), turn);
      } catch (cause) {
        if (!isWriteConflict(cause)) throw cause;
      }
    return runFromQueue(queue, () => runInTurn(() => withQueueLock([queue], () => retry(change, dryRun)), turn));
  };
}
