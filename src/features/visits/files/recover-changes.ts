import { sql } from 'kysely';
import type { ItemPath } from '#core/item-path.ts';
import { deleteResponse } from '#features/idempotency/pending-responses.ts';
import { findRunningProcesses } from '#features/processes/running-processes.ts';
import { openLocation, unsealConfiguration } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { ItemNotFound, StorageUnusable } from '#ports/storage-errors.ts';
import { StoreFull, StoreUnavailable, type Tx } from '#ports/store.ts';
import { FailingLocations } from './failing-locations.ts';
import { forEachLocation } from './for-each-location.ts';
import { withNameLocks } from './name-locks.ts';
import { changeOf, type PendingRow, pendingRows, recordOutcome } from './recovered-outcome.ts';
import { isUnfinishedUpload, unfinishedUploadTokens } from './unfinished-uploads.ts';

const pendingChanges = ({ store, process }: Pick<Ports, 'store' | 'process'>, liveProcesses: readonly string[] | null) =>
  pendingRows(store.read)
    .where(({ or, eb }) =>
      or([...(liveProcesses ? [eb('unsettled.process', 'not in', liveProcesses)] : []), eb('unsettled.process', '=', process)]),
    )
    .execute();

type ClaimPorts = Pick<Ports, 'store' | 'process'>;

/** Passes a pending change from one process to another. @returns false if it does not belong to the first one any more */
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

const locationKey = ({ tid, location_id }: PendingRow) => `${tid} ${location_id}`;

const maxOwnFailures = 2; // at a location: then other processes may try, too
const noProcess = ''; // no process has this name

/** Lets other processes try a change that this process could not recover: they may reach the location. */
async function leaveToOthers(ports: ClaimPorts, row: PendingRow, location: string, failing: FailingLocations): Promise<void> {
  if (!ports.store.isShared) return;
  if (row.process !== ports.process) await passOn(ports, row, ports.process, row.process);
  else if (failing.failureCount(location) >= maxOwnFailures) {
    failing.giveUp(location);
    await passOn(ports, row, ports.process, noProcess);
  }
}

/** Returns whether a change is still pending in this process: another run may have recovered it since its row was read. */
const isStillPending = async ({ store, process }: Pick<Ports, 'store' | 'process'>, { tid, audit_id }: PendingRow): Promise<boolean> =>
  (await store.read
    .selectFrom('unsettled')
    .select('audit_id')
    .where('tid', '=', tid)
    .where('audit_id', '=', audit_id)
    .where('process', '=', process)
    .executeTakeFirst()) !== undefined;

/**
 * Checks in the storage whether a change took place, records its outcome, and only then deletes its staged or trashed files, which
 * are the evidence.
 */
async function recover(ports: RecoveryPorts, row: PendingRow, keepsTrash: boolean): Promise<void> {
  const change = changeOf(row);
  const { storages, vault, store, clock } = ports;
  const openStorage = async () => {
    const location = { id: row.location_id, tid: row.tid, kind: row.kind };
    return storages.open({ ...location, configuration: unsealConfiguration(row, vault) });
  };
  const names = row.new_name === '' ? [row.name] : [row.name, row.new_name];
  async function recoverFiles(folder: ItemPath): Promise<{ readonly name: string | null } | null> {
    const storage = await openStorage();
    const recoverChange = async () => ((await isStillPending(ports, row)) ? { name: await storage.recover(change) } : null);
    return change.action === 'delete' ? recoverChange() : withNameLocks(ports, storage, folder, names, recoverChange);
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

/** Records the pending changes of deleted locations as failed, because their files can no longer be checked. */
async function failChangesOfDeletedLocations(tx: Tx): Promise<void> {
  const rows = await tx
    .selectFrom('unsettled')
    .leftJoin('location', (join) => join.onRef('location.tid', '=', 'unsettled.tid').onRef('location.id', '=', 'unsettled.location_id'))
    .select(['unsettled.tid', 'unsettled.audit_id'])
    .where('location.id', 'is', null)
    .execute();
  for (const { tid, audit_id } of rows) {
    await tx.updateTable('audit').set({ outcome: 'failed' }).where('tid', '=', tid).where('id', '=', audit_id).execute();
    await tx.deleteFrom('unsettled').where('tid', '=', tid).where('audit_id', '=', audit_id).execute();
    await deleteResponse(tx, tid, audit_id);
  }
}

type RecoveryPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'process'>;

/** A location at which recovery or a sweep has failed. */
export interface LocationFailure {
  readonly tid: number;
  readonly name: string;
  readonly reason: string;
}

interface RecoveryOptions {
  /** true: recovers only the changes of this process. A scheduled job recovers those of other processes. */
  readonly ownOnly?: boolean;
  /** true: leaves deleted items in the trash, because a sweep follows and the start should not wait for it. */
  readonly keepsTrash?: boolean;
  /** The locations where earlier runs have failed. */
  readonly failing?: FailingLocations;
  /** The locations where runs with `ownOnly` have failed. Where they gave up, the changes are left to other running processes. */
  readonly ownFailing?: FailingLocations;
}

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : 'an unknown error');

/**
 * Recovers the pending changes of processes that have ended, and those that this process could not complete because the database was
 * unavailable. Checks in the storage whether each change took place, and records the outcome. If a location fails or does not respond,
 * a later run tries again. Without `ownOnly`, also records the unfinished downloads of ended processes as failed, and releases their
 * claims of uploads in parts.
 * @param runningChanges tokens of the changes that this process makes or recovers
 * @returns the failures whose reason differs from the last one of the same location
 * @throws StoreUnavailable, StoreFull
 */
export async function recoverInterruptedChanges(
  ports: RecoveryPorts,
  runningChanges: Set<string>,
  { ownOnly = false, keepsTrash = false, failing = new FailingLocations(), ownFailing }: RecoveryOptions = {},
): Promise<readonly LocationFailure[]> {
  const failures: LocationFailure[] = [];
  const liveProcesses = ownOnly ? null : await findRunningProcesses(ports);
  function addFailure(location: string, { tid, location_name: name }: PendingRow, reason: string): void {
    if (failing.add(location, reason)) failures.push({ tid, name, reason });
  }
  async function recoverRow(row: PendingRow, location: string): Promise<string | null> {
    if (runningChanges.has(row.token)) return null;
    runningChanges.add(row.token); // so that the next run skips it: emptying a large folder may take longer than the time between runs
    try {
      if (await claim(ports, row)) await recover(ports, row, keepsTrash);
      return null;
    } catch (cause) {
      if (cause instanceof StoreUnavailable || cause instanceof StoreFull) throw cause;
      await leaveToOthers(ports, row, location, failing);
      return reasonOf(cause);
    } finally {
      runningChanges.delete(row.token);
    }
  }
  async function recoverLocation(location: string, rows: readonly PendingRow[]): Promise<void> {
    const isRunning = rows.some(({ token }) => runningChanges.has(token)); // an earlier run, or the change itself, is not done yet
    let failure: { readonly row: PendingRow; readonly reason: string } | undefined;
    for (const row of rows) {
      const reason = await recoverRow(row, location);
      if (reason !== null) failure ??= { row, reason };
    }
    if (failure) addFailure(location, failure.row, failure.reason);
    else if (!isRunning) failing.delete(location);
  }
  const isLeftToOthers = (row: PendingRow) =>
    row.process === noProcess && liveProcesses !== null && liveProcesses.length > 1 && ownFailing?.isGivenUp(locationKey(row)) === true;
  const rows = (await pendingChanges(ports, liveProcesses)).filter((row) => !isLeftToOthers(row));
  const rowsByLocation = Map.groupBy(rows, locationKey);
  failing.keepOnly(rowsByLocation);
  await forEachLocation(
    [...rowsByLocation].filter(([location]) => failing.mayTry(location)),
    ([location, rowsOfLocation]) => recoverLocation(location, rowsOfLocation),
    ([location, [row]]) => row && addFailure(location, row, 'it does not respond'),
  );
  if (!liveProcesses) return failures;
  await ports.store.write(async (tx) => {
    await failChangesOfDeletedLocations(tx);
    // Downloads that were being sent when their process ended have failed.
    await tx
      .updateTable('audit')
      .set({ outcome: 'failed' })
      .where('outcome', '=', sql.lit('begun')) // a literal, so that SQLite uses the partial index
      .where('process', 'not in', liveProcesses)
      .where('id', 'not in', tx.selectFrom('unsettled').select('audit_id'))
      .execute();
    // So that quotas and limits no longer count the parts that these processes were receiving.
    await tx.updateTable('resumable_upload').set({ holder: null }).where('holder', 'not in', liveProcesses).execute();
  }, 'job');
  return failures;
}

/**
 * Deletes files that interrupted uploads and deletions have left. Keeps those of pending changes and of unfinished uploads in parts.
 * Skips locations that are unavailable.
 * @returns the locations that refuse changes
 */
export async function sweepLocations({
  store,
  storages,
  vault,
}: Pick<Ports, 'store' | 'storages' | 'vault'>): Promise<readonly LocationFailure[]> {
  const refusals: LocationFailure[] = [];
  const tokensInUse = async () => {
    const rows = await store.read.selectFrom('unsettled').select('token').execute();
    return [...rows.map(({ token }) => token), ...(await unfinishedUploadTokens(store.read))];
  };
  await storages.sweep?.(tokensInUse).catch(() => {}); // the next sweep tries again
  const locations = await store.read.selectFrom('location').selectAll().execute();
  // A large folder is deleted in the background. A location that hangs is swept when it responds again.
  await forEachLocation(locations, async (row) => {
    try {
      const storage = await openLocation(row, { storages, vault });
      await storage.sweep(tokensInUse);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      if (cause instanceof StorageUnusable) refusals.push({ tid: row.tid, name: row.name, reason: cause.message });
      // Any other error: the location is unavailable or read-only, and is skipped.
    }
  });
  return refusals;
}
