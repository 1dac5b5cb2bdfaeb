import { expressionBuilder } from 'kysely';
import { formatItemPath, type ItemPath, rootPath } from '#core/item-path.ts';
import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { Confirm, PendingFileChange, Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { StoreUnavailable } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { resultsInName } from './name-locks.ts';
import { confirmUnknown } from './pending-records.ts';
import { changeOf, type PendingRow, pendingRows, recordOutcome } from './recovered-outcome.ts';

/** The outcome of an earlier change of the same names is not known yet. The change that follows has not begun. */
export class EarlierChangePending extends StorageUnavailable {}

/** What a change is about to use in a folder. */
interface UsedNames {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  /** All names that it uses. */
  readonly names: readonly string[];
  /** The name of the item that it replaces, renames or deletes; null: it only creates one. */
  readonly existing: string | null;
}

type EarlierChangePorts = Pick<Ports, 'store' | 'clock' | 'process' | 'storages' | 'vault'>;
type EarlierChangeStorage = Pick<Storage, 'recover' | 'giveUp' | 'clearEvidence' | 'folderKey' | 'traits'>;

/** Returns the condition that a pending change concerns the names: it takes an item away from one of them, or has put one at `existing`. */
function concerns({ names, existing }: UsedNames) {
  const row = expressionBuilder<Database, 'unsettled' | 'audit'>();
  const takesAway = row.and([row('audit.action', 'in', ['delete', 'rename']), row('unsettled.name', 'in', names)]);
  if (existing === null) return takesAway;
  return row.or([takesAway, row.and([row('audit.action', '!=', 'delete'), resultsInName(existing)])]);
}

/** Finds out the outcome of a change. @throws EarlierChangePending */
async function findOutcome(
  storage: EarlierChangeStorage,
  change: PendingFileChange,
  confirm: Confirm,
): Promise<{ readonly name: string | null } | 'waits'> {
  try {
    const name = await storage.recover(change, confirm);
    return name === null && !(await storage.giveUp(change)) ? 'waits' : { name };
  } catch (cause) {
    if (cause instanceof StorageUnavailable || cause instanceof StoreUnavailable) throw new EarlierChangePending(cause.message, { cause });
    throw cause;
  }
}

/**
 * Returns the storage of a pending change if it concerns the same folder; null: another folder. Several locations at a service may contain
 * the folder. Those with the same root share their evidence; each of the others has evidence of its own.
 */
async function storageOf(
  ports: EarlierChangePorts,
  row: PendingRow,
  storage: EarlierChangeStorage,
  { locationId, parent }: UsedNames,
): Promise<EarlierChangeStorage | null> {
  const change = changeOf(row);
  if (row.location_id === locationId) return formatItemPath(change.parent) === formatItemPath(parent) ? storage : null;
  if (storage.traits.create === 'atomic') return null; // local: recovery compares the files with its evidence, also after this change
  const location = await findStorageLocation(ports.store.read, { tid: row.tid, id: row.location_id });
  if (!location || location.kind === 'local') return null;
  const other = await openLocation(location, ports).catch(() => null); // if it cannot be opened, nothing shows that it contains the folder
  if (!other || (await other.folderKey(change.parent)) !== (await storage.folderKey(parent))) return null;
  const hasSameRoot = (await other.folderKey(rootPath)) === (await storage.folderKey(rootPath));
  return hasSameRoot ? storage : other; // the other location may be unavailable, for example because its password has changed
}

/**
 * Records the outcome of pending changes that concern the names that a change uses. Call it under the locks of the names, before the change
 * is made: afterwards, recovery could not tell that the earlier ones took place, or would take the new item for the old one. A replacement
 * that has begun, has not taken place and would not fail by itself (`Storage.giveUp`) ends here: neither its process nor recovery may
 * complete it afterwards. A change that has not begun stays pending, because its process waits for the lock.
 * @param token of the change that follows
 * @throws EarlierChangePending if the outcome of one of them cannot be found out yet
 */
export async function recordEarlierChanges(
  ports: EarlierChangePorts,
  storage: EarlierChangeStorage,
  used: UsedNames,
  token: string,
): Promise<void> {
  const { store, clock } = ports;
  const concerned = pendingRows(store.read)
    .where('unsettled.tid', '=', used.tid)
    .where('unsettled.token', '!=', token)
    .where(concerns(used));
  const rows = await concerned.execute();
  for (const { token: earlier } of rows) {
    const row = await concerned.where('unsettled.token', '=', earlier).executeTakeFirst(); // it may have been recorded or got another name
    if (!row) continue;
    const change = changeOf(row);
    const own = await storageOf(ports, row, storage, used);
    if (!own) continue;
    const outcome = await findOutcome(own, change, () => confirmUnknown(ports, row.tid, row.audit_id));
    if (outcome === 'waits') continue;
    await store.write((tx) => recordOutcome(tx, row, change, outcome.name, clock.now()), 'job');
    const clearing = own.clearEvidence(change).catch(() => {}); // the next sweep deletes what is left
    if (change.action !== 'delete') await clearing; // emptying a removed folder may take a while
  }
}
