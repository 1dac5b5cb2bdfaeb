import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';

/** Interval between two reports of a process that it is running; ms. */
export const reportInterval = 10_000;
/** How long a process counts as running after its last report; ms. */
export const processTimeout = 60_000;
/** A process whose last report is older reports again before it changes files; ms. Less than `processTimeout`, with a margin. */
const maxReportAge = processTimeout - 20_000;

/** Stands in place of the name of a process while a pending change belongs to no process. */
export const noProcess = '';

type ProcessPorts = Pick<Ports, 'store' | 'process'>;

/** The database is not the one that this process started with: it was created again, has another key, or is the target of a copy. */
export class DatabaseReplaced extends Error {}

/**
 * Checks that the database was not replaced since this process started. After a replacement, the caches of the process are stale.
 * @param databaseId id of the database when this process started
 * @throws DatabaseReplaced
 */
export async function checkSameDatabase({ store, vault }: Pick<Ports, 'store' | 'vault'>, databaseId: string): Promise<void> {
  if (!store.isShared) return;
  if ((await store.databaseId()) !== databaseId) throw new DatabaseReplaced();
  const row = await store.read.selectFrom('secret_key').select('fingerprint').executeTakeFirst();
  if (row?.fingerprint !== vault.fingerprint) throw new DatabaseReplaced();
}

/** Tells the other processes on the database that this one is running. Uses the database's clock, since machines' clocks differ. */
export async function reportAlive({ store, process }: ProcessPorts): Promise<void> {
  if (!store.isShared) return;
  const { now } = store.dialect;
  // The row is updated and not replaced: the deletion of the row would also delete the names that the process holds.
  await store.write(
    (tx) =>
      tx
        .insertInto('process')
        .values({ name: process, seen_at: now })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ seen_at: now }))
        .execute(),
    'job',
  );
}

/**
 * Removes the other processes that have not reported for `processTimeout`, and with them the names that they held. Their pending changes no
 * longer belong to them, so that a suspended process cannot continue them. Call this only while the other processes are able to report.
 */
export async function removeEndedProcesses({ store, process }: ProcessPorts): Promise<void> {
  if (!store.isShared) return;
  const oldest = sql<number>`${store.dialect.now} - ${processTimeout}`;
  await store.write(async (tx) => {
    const rows = await tx.deleteFrom('process').where('name', '!=', process).where('seen_at', '<', oldest).returning('name').execute();
    const ended = rows.map(({ name }) => name);
    if (ended.length > 0) await tx.updateTable('unsettled').set({ process: noProcess }).where('process', 'in', ended).execute();
  }, 'job');
}

/** Reports that this process has ended, so that others need not wait for `processTimeout` before they recover its interrupted work. */
export async function reportProcessEnd({ store, process }: ProcessPorts): Promise<void> {
  if (store.isShared) await store.write((tx) => tx.deleteFrom('process').where('name', '=', process).execute(), 'job');
}

/**
 * Reports that this process is running, unless it has reported lately. Without a recent report, it might soon count as ended, and another
 * process would take over what belongs to it.
 * @throws StoreUnavailable
 */
export async function ensureReported(ports: ProcessPorts): Promise<void> {
  const { store, process } = ports;
  if (!store.isShared) return;
  const recentReport = await store.read
    .selectFrom('process')
    .select('name')
    .where('name', '=', process)
    .where('seen_at', '>=', sql<number>`${store.dialect.now} - ${maxReportAge}`)
    .executeTakeFirst();
  if (!recentReport) await reportAlive(ports);
}

/** Returns the names of the running processes, this one first. Pending work of a process that is not among them was interrupted. */
export async function findRunningProcesses({ store, process }: ProcessPorts): Promise<string[]> {
  if (!store.isShared) return [process];
  const rows = await store.read
    .selectFrom('process')
    .select('name')
    .where('seen_at', '>=', sql<number>`${store.dialect.now} - ${processTimeout}`)
    .where('seen_at', '<=', sql<number>`${store.dialect.now} + ${processTimeout}`) // a later report: the database's clock was ahead
    .execute();
  return [process, ...rows.map(({ name }) => name)];
}
