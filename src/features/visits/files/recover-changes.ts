import { sql } from 'kysely';
import type { ItemPath } from '#core/item-path.ts';
import { deleteResponse } from '#features/idempotency/pending-responses.ts';
import { findRunningProcesses, noProcess } from '#features/processes/running-processes.ts';
import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { ItemNotFound } from '#ports/storage-errors.ts';
import type { StorageLocation } from '#ports/storages.ts';
import { isTemporaryStoreError, type Tx } from '#ports/store.ts';
import { BusyLocations } from './busy-locations.ts';
import { FailingLocations, type LocationFailure } from './failing-locations.ts';
import { forEachLocation } from './for-each-location.ts';
import { NamesHeldTooLong } from './held-names.ts';
import { withNameLocks } from './name-locks.ts';
import { namesOf, startAgain } from './overlapping-changes.ts';
import { findPendingLocations, type PendingLocation, pendingChangesAt } from './pending-locations.ts';
import { confirmPending } from './pending-records.ts';
import { changeOf, type PendingRow, pendingRows, recordOutcome } from './recovered-outcome.ts';
import { isUnfinishedUpload } from './unfinished-uploads.ts';

type ClaimPorts = Pick<Ports, 'store' | 'process'>;

/** Passes a pending change from one process to another. @returns false if it no longer belongs to `from` */
async function passOn({ store }: ClaimPorts, { tid, audit_id }: PendingRow, from: string, to: string): Promise<boolean> {
  const [result] = await store.write(
    (tx) =>
      tx
        .updateTable('unsettled')
        .set({ process: to })
        .where('tid', '=', tid)
        .where('audit_id', '=', audit_id)
        .where('process', '=', from)
        .execute(),
    'job',
  );
  return Number(result?.numUpdatedRows) === 1;
}

/**
 * Claims a pending change for this process. Recovery also repairs files: without a claim, one process might see the
 * half-done repair of another.
 * @returns whether the change belongs to this process
 */
async function claim(ports: ClaimPorts, row: PendingRow): Promise<boolean> {
  return row.process === ports.process || passOn(ports, row, row.process, ports.process);
}

const locationKey = ({ tid, location_id }: Pick<PendingLocation, 'tid' | 'location_id'>) => `${tid} ${location_id}`;

const maxOwnFailures = 2; // at a location: then other processes may try, too

/** Lets other processes try a change that this process could not recover: they may reach the location. */
async function leaveToOthers(ports: ClaimPorts, row: PendingRow, location: string, failing: FailingLocations): Promise<void> {
  if (!ports.store.isShared) return;
  // The change does not go back to the process that began it: if that process was suspended, it must not continue.
  if (row.process !== ports.process) await passOn(ports, row, ports.process, noProcess);
  else if (failing.failureCount(location) >= maxOwnFailures) {
    failing.giveUp(location);
    await passOn(ports, row, ports.process, noProcess);
  }
}

/** Reads a pending change of this process again. undefined: another run has recovered it since its row was read. */
const readAgain = ({ store, process }: Pick<Ports, 'store' | 'process'>, { tid, audit_id }: PendingRow): Promise<PendingRow | undefined> =>
  pendingRows(store.read)
    .where('unsettled.tid', '=', tid)
    .where('unsettled.audit_id', '=', audit_id)
    .where('unsettled.process', '=', process)
    .executeTakeFirst();

/**
 * Checks in the storage whether a change took place, records its outcome, and only then deletes its evidence. The evidence of an
 * unfinished upload stays, and with `keepsTrash` so does that of a deletion on a storage with real folders.
 */
async function recover(ports: RecoveryPorts, row: PendingRow, location: StorageLocation, keepsTrash: boolean): Promise<void> {
  const change = changeOf(row);
  const { store, clock } = ports;
  const openStorage = async () => openLocation(location, ports);
  const names = namesOf(change);
  async function recoverFiles(folder: ItemPath): Promise<{ readonly name: string | null } | null> {
    const storage = await openStorage();
    const confirm = () => confirmPending(ports, row.tid, row.audit_id);
    const recoverChange = async () => {
      if (!(await readAgain(ports, row))) return null;
      using _started = storage.traits.create === 'atomic' ? null : await startAgain(ports, storage, { ...change, tid: row.tid });
      return { name: await storage.recover(change, confirm) };
    };
    return change.action === 'delete'
      ? recoverChange()
      : withNameLocks(ports, storage, folder, names, { token: row.token, turn: 'job' }, recoverChange);
  }
  const recovery = await recoverFiles(change.parent).catch((cause: unknown) => {
    if (cause instanceof ItemNotFound) return { name: null };
    throw cause; // the change may have taken place: the next run checks again
  });
  if (!recovery) return;
  await store.write((tx) => recordOutcome(tx, row, change, recovery.name, clock.now()), 'job');
  if (change.action === 'upload' && recovery.name === null && (await isUnfinishedUpload(store.read, row.tid, change.token))) return;
  const storage = await openStorage().catch(() => null);
  if (!storage || (keepsTrash && change.action === 'delete' && storage.traits.folders === 'real')) return;
  await storage.clearEvidence(change).catch(() => {}); // the next sweep deletes it
}

const maxFailed = 1000; // changes in one transaction, so that others need not wait long for it

/**
 * Records the pending changes of deleted locations as failed, because their files can no longer be checked.
 * @returns whether there may be more of them
 */
async function failChangesOfDeletedLocations(tx: Tx): Promise<boolean> {
  const rows = await tx
    .selectFrom('unsettled')
    .leftJoin('location', (join) => join.onRef('location.tid', '=', 'unsettled.tid').onRef('location.id', '=', 'unsettled.location_id'))
    .select(['unsettled.tid', 'unsettled.audit_id'])
    .where('location.id', 'is', null)
    .limit(maxFailed)
    .execute();
  for (const { tid, audit_id } of rows) {
    await tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', audit_id).execute();
    await tx.deleteFrom('unsettled').where('tid', '=', tid).where('audit_id', '=', audit_id).execute();
    await deleteResponse(tx, tid, audit_id);
  }
  return rows.length === maxFailed;
}

type RecoveryPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'process'>;

interface RecoveryOptions {
  /** true: recovers only the changes of this process. A scheduled job recovers those of other processes. */
  readonly ownOnly?: boolean;
  /** true: if a storage has real folders, deleted items stay in the trash. A later sweep deletes them, so that the start does not wait. */
  readonly keepsTrash?: boolean;
  /** The locations where earlier runs have failed. */
  readonly failing?: FailingLocations;
  /** The locations where runs with `ownOnly` have failed. Where they gave up, the changes are left to other running processes. */
  readonly ownFailing?: FailingLocations;
  /** The locations at which an earlier run is not done yet. This run skips them. */
  readonly busyLocations?: BusyLocations;
}

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : 'an unknown error');

/**
 * Recovers the pending changes of processes that have ended, and those that this process could not complete because the storage or the
 * database was unavailable. Checks in the storage whether each change took place, and records the outcome. If a location fails or does
 * not respond, a later run tries again. Without `ownOnly`, also records as failed the changes at deleted locations and
 * the unfinished downloads and views of ended processes, and releases the claims of ended processes on uploads in parts.
 * @param runningChanges tokens of the changes that this process makes or recovers
 * @returns the failures whose reason differs from the last one of the same location
 * @throws StoreUnavailable, StoreFull
 */
export async function recoverInterruptedChanges(
  ports: RecoveryPorts,
  runningChanges: Set<string>,
  {
    ownOnly = false,
    keepsTrash = false,
    failing = new FailingLocations(),
    ownFailing,
    busyLocations = new BusyLocations(),
  }: RecoveryOptions = {},
): Promise<readonly LocationFailure[]> {
  const failures: LocationFailure[] = [];
  const liveProcesses = ownOnly ? null : await findRunningProcesses(ports);
  function addFailure(location: PendingLocation, reason: string): void {
    if (failing.add(locationKey(location), reason)) failures.push({ tid: location.tid, name: location.location_name, reason });
  }
  async function recoverRow(row: PendingRow, location: StorageLocation): Promise<string | null> {
    if (runningChanges.has(row.token)) return null;
    runningChanges.add(row.token); // so that the next run skips it: emptying a large folder may take longer than the time between runs
    try {
      // Until the claim, the process that made the change may have recorded another name.
      const claimedRow = (await claim(ports, row)) ? await readAgain(ports, row) : undefined;
      if (claimedRow) await recover(ports, claimedRow, location, keepsTrash);
      return null;
    } catch (cause) {
      if (isTemporaryStoreError(cause) && !(cause instanceof NamesHeldTooLong)) throw cause;
      await leaveToOthers(ports, row, locationKey(row), failing);
      return reasonOf(cause);
    } finally {
      runningChanges.delete(row.token);
    }
  }
  async function recoverLocation(pending: PendingLocation, processes: readonly string[]): Promise<void> {
    const location = await findStorageLocation(ports.store.read, { tid: pending.tid, id: pending.location_id });
    if (!location) return; // it was deleted meanwhile
    let isRunning = false; // an earlier run, or a change itself, is not done yet
    let firstReason: string | null = null;
    for await (const row of pendingChangesAt(ports, pending, processes)) {
      isRunning ||= runningChanges.has(row.token);
      const reason = await recoverRow(row, location);
      firstReason ??= reason;
    }
    if (firstReason !== null) addFailure(pending, firstReason);
    else if (!isRunning) failing.delete(locationKey(pending));
  }
  const isLeftToOthers = (pending: PendingLocation) =>
    pending.process === noProcess &&
    liveProcesses !== null &&
    liveProcesses.length > 1 &&
    ownFailing?.isGivenUp(locationKey(pending)) === true;
  const pendingLocations = (await findPendingLocations(ports, liveProcesses)).filter((pending) => !isLeftToOthers(pending));
  const rowsByLocation = Map.groupBy(pendingLocations, locationKey);
  failing.keepOnly(rowsByLocation);
  await forEachLocation(
    [...rowsByLocation].filter(([location]) => failing.mayTry(location)),
    async ([, rows]) => {
      const [pending] = rows;
      if (!pending) return;
      const processes = rows.map(({ process }) => process);
      await busyLocations.runUnlessBusy(pending.tid, pending.location_id, () => recoverLocation(pending, processes));
    },
    ([, [pending]]) => pending && addFailure(pending, 'it does not respond'),
  );
  if (!liveProcesses) return failures;
  const runningProcesses = await findRunningProcesses(ports); // others may have started while the locations were waited for
  let hasMore = await ports.store.write(async (tx) => {
    const hasMoreChanges = await failChangesOfDeletedLocations(tx);
    // Downloads and views that were being sent when their process ended have failed.
    await tx
      .updateTable('audit')
      .set({ outcome: 'failed' })
      .where('outcome', '=', sql.lit('begun')) // a literal, so that SQLite uses the partial index
      .where('process', 'not in', runningProcesses)
      .where('id', 'not in', tx.selectFrom('unsettled').select('audit_id'))
      .execute();
    // Quotas and limits must no longer count the parts that ended processes were receiving.
    await tx.updateTable('resumable_upload').set({ holder: null }).where('holder', 'not in', runningProcesses).execute();
    return hasMoreChanges;
  }, 'job');
  while (hasMore) hasMore = await ports.store.write(failChangesOfDeletedLocations, 'job');
  return failures;
}
