import { sql } from 'kysely';
import { formatItemPath, parseStoredPath, withName } from '#core/item-path.ts';
import { enqueueAlert } from '#features/alerts/enqueue-alert.ts';
import { confirmResponse, deleteResponse } from '#features/idempotency/pending-responses.ts';
import { livingProcesses } from '#features/processes/living-processes.ts';
import { openConfiguration, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { ItemAbsent, type PendingFileChange, StorageAway, StorageRefused } from '#ports/storage.ts';
import { StoreAway, StoreFull, type Tx } from '#ports/store.ts';
import { withNameLock } from './name-locks.ts';
import { deletePendingChange } from './pending-change.ts';

const changes: readonly string[] = ['upload', 'createFolder', 'rename', 'delete'] satisfies PendingFileChange['action'][];
const isChange = (action: string): action is PendingFileChange['action'] => changes.includes(action);

type Pending = Awaited<ReturnType<typeof pendingChanges>>[number];
const pendingChanges = ({ store, process }: Pick<Ports, 'store' | 'process'>, living: readonly string[] | null) =>
  store.read
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'unsettled.tid').onRef('location.id', '=', 'unsettled.location_id'))
    .select([
      'unsettled.audit_id',
      'unsettled.location_id',
      'unsettled.process',
      'parent',
      'unsettled.name',
      'new_name',
      'token',
      'audit.action',
      'audit.share_id',
      'audit.path',
      'audit.tid',
      'location.kind',
      'location.name as location_name',
      'location.configuration',
    ])
    .where(({ or, eb }) => or([...(living ? [eb('unsettled.process', 'not in', living)] : []), eb('unsettled.process', '=', process)]))
    .execute();

/** Only one process looks at a change: two might see different halves of what a look puts right. @returns whether it is ours */
async function claim({ store, process }: Pick<Ports, 'store' | 'process'>, row: Pending): Promise<boolean> {
  if (row.process === process) return true;
  const [claimed] = await store.write(
    (tx) =>
      tx
        .updateTable('unsettled')
        .set({ process })
        .where('tid', '=', row.tid)
        .where('audit_id', '=', row.audit_id)
        .where('process', '=', row.process)
        .execute(),
    'job',
  );
  return Number(claimed?.numUpdatedRows) === 1;
}

const alertColumns = {
  upload: 'alert_upload',
  createFolder: 'alert_create_folder',
  rename: 'alert_rename',
  delete: 'alert_delete',
} as const satisfies Record<PendingFileChange['action'], string>;

/** Enqueues the alert of a recovered change, if its share wants one. */
async function oweAlertOf(tx: Tx, { tid, share_id, audit_id }: Pending, action: PendingFileChange['action'], now: number): Promise<void> {
  if (share_id === null) return;
  const share = await tx.selectFrom('share').selectAll().where('tid', '=', tid).where('id', '=', share_id).executeTakeFirst();
  if (share?.[alertColumns[action]] === 1) await enqueueAlert(tx, share, audit_id, action, now);
}

/** @param name that the change gave or took; null: it did not take place */
async function record(tx: Tx, row: Pending, change: PendingFileChange, name: string | null, now: number): Promise<void> {
  if (!(await deletePendingChange(tx, row.tid, row.audit_id))) return; // it came to its own end meanwhile
  const path = parseStoredPath(row.path);
  await tx
    .updateTable('audit')
    .set({
      outcome: name === null ? 'failed' : 'done',
      ...(change.action === 'upload' && name !== null && path ? { path: formatItemPath(withName(path, name)) } : {}),
      ...(change.action === 'rename' && name !== null ? { after: JSON.stringify({ name }) } : {}),
    })
    .where('tid', '=', row.tid)
    .where('id', '=', row.audit_id)
    .execute();
  if (name === null) return deleteResponse(tx, row.tid, row.audit_id);
  await confirmResponse(tx, row.tid, row.audit_id);
  await oweAlertOf(tx, row, change.action, now);
}

/** Looks whether a change took place, records it, and only then clears away what told so. */
async function recover(ports: RecoveryPorts, row: Pending, leavesDeleted: boolean): Promise<void> {
  const parent = parseStoredPath(row.parent);
  if (!parent || !isChange(row.action)) throw new Error('a pending change is not one'); // it was checked when it was written
  const change = { action: row.action, parent, name: row.name, newName: row.new_name, token: row.token };
  const { storages, vault, store, clock } = ports;
  const open = async () => {
    const place = { id: row.location_id, tid: row.tid, kind: row.kind };
    return storages.open({ ...place, configuration: openConfiguration(row, vault) });
  };
  const taken = { tid: row.tid, locationId: row.location_id, parent, name: row.new_name || row.name };
  async function look(): Promise<string | null> {
    const storage = await open();
    const settled = () => storage.recover(change);
    return change.action === 'delete' ? settled() : withNameLock(ports, storage, taken, settled);
  }
  const given = await look().catch((cause: unknown) => {
    if (cause instanceof ItemAbsent) return null;
    throw cause; // neither the disk nor a lock says that it did not take place: the next run looks again
  });
  await store.write((tx) => record(tx, row, change, given, clock.now()), 'job');
  if (leavesDeleted && change.action === 'delete') return;
  await open()
    .then((storage) => storage.clear(change))
    .catch(() => {}); // swept at the next start
}

/** Nobody can look at a location that was deleted: what was begun there counts as failed. */
async function forgetDeletedLocations(tx: Tx): Promise<void> {
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

/**
 * Says of everything that was left begun whether it took place, by looking: by a process which is no more, or by this
 * one while the database was away. A location that is away is asked the next time, and so is one whose disk fails: it
 * holds up neither the other locations nor a start.
 * @param underWay tokens of the changes that this process makes or recovers
 * @param ownOnly true: who else lives is not known, since nobody could say so for a while
 * @param leavesDeleted true: what was deleted is not emptied, since a sweep follows and nobody shall wait for that
 * @returns what the disks said that failed, by the names of their locations
 * @throws StoreAway, StoreFull
 */
export async function recoverInterruptedChanges(
  ports: RecoveryPorts,
  underWay: Set<string>,
  { ownOnly = false, leavesDeleted = false }: { readonly ownOnly?: boolean; readonly leavesDeleted?: boolean } = {},
): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  const living = ownOnly ? null : await livingProcesses(ports);
  for (const row of await pendingChanges(ports, living)) {
    if (underWay.has(row.token)) continue;
    underWay.add(row.token); // to empty a large folder may take longer than until the next run
    try {
      if (await claim(ports, row)) await recover(ports, row, leavesDeleted);
    } catch (cause) {
      if (cause instanceof StoreAway || cause instanceof StoreFull) throw cause;
      if (!(cause instanceof StorageAway)) failures.set(row.location_name, cause instanceof Error ? cause.message : 'an unknown error');
    } finally {
      underWay.delete(row.token);
    }
  }
  if (!living) return failures;
  await ports.store.write(async (tx) => {
    await forgetDeletedLocations(tx);
    // What handed out bytes when its process ended broke off.
    await tx
      .updateTable('audit')
      .set({ outcome: 'failed' })
      .where('outcome', '=', sql.lit('begun')) // written out, so that SQLite takes the partial index
      .where('process', 'not in', living)
      .where('id', 'not in', tx.selectFrom('unsettled').select('audit_id'))
      .execute();
  }, 'job');
  return failures;
}

/**
 * Clears what is left of uploads and removals at every location that answers; what is under way stays.
 * @returns why locations refuse changes, by their names
 */
export async function sweepLocations({
  store,
  storages,
  vault,
}: Pick<Ports, 'store' | 'storages' | 'vault'>): Promise<ReadonlyMap<string, string>> {
  const refusals = new Map<string, string>();
  const underWay = async () => (await store.read.selectFrom('unsettled').select('token').execute()).map(({ token }) => token);
  for (const row of await store.read.selectFrom('location').selectAll().execute()) {
    try {
      const storage = await openLocation(row, { storages, vault });
      await storage.sweep(underWay);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause; // a location that is away, or not to be written to, is left as it is
      if (cause instanceof StorageRefused) refusals.set(row.name, cause.message);
    }
  }
  return refusals;
}
