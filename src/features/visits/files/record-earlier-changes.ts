import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { PendingFileChange, Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { usesNames } from './name-locks.ts';
import { changeOf, pendingRows, recordOutcome } from './recovered-outcome.ts';

/** The outcome of an earlier change of the same names is not known yet. The change that follows has not begun. */
export class EarlierChangePending extends StorageUnavailable {}

/** Names in a folder that a change is about to use. */
interface UsedNames {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly names: readonly string[];
}

type EarlierChangeStorage = Pick<Storage, 'recover' | 'giveUp' | 'clearEvidence'>;

/** Finds out the outcome of a change. @throws EarlierChangePending */
async function findOutcome(storage: EarlierChangeStorage, change: PendingFileChange): Promise<{ readonly name: string | null } | 'waits'> {
  try {
    const name = await storage.recover(change);
    return name === null && !(await storage.giveUp(change)) ? 'waits' : { name };
  } catch (cause) {
    if (cause instanceof StorageUnavailable) throw new EarlierChangePending(cause.message, { cause });
    throw cause;
  }
}

/**
 * Records the outcome of pending changes that have used the same names. Call it under the locks of the names, before anything is created,
 * renamed, deleted or replaced there: afterwards, recovery could not tell that the changes took place, or would take the new item for the
 * old one. A replacement that has begun and has not taken place ends here: neither its process nor recovery may complete it afterwards. A
 * change that has not begun stays pending, because its process waits for the lock.
 * @param token of the change that follows
 * @throws EarlierChangePending if the server may still be working on one of them
 */
export async function recordEarlierChanges(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  storage: EarlierChangeStorage,
  { tid, locationId, parent, names }: UsedNames,
  token: string,
): Promise<void> {
  const rows = await pendingRows(store.read)
    .where('unsettled.tid', '=', tid)
    .where('unsettled.location_id', '=', locationId)
    .where('unsettled.parent', '=', formatItemPath(parent))
    .where('unsettled.token', '!=', token)
    .where(usesNames(names))
    .execute();
  for (const row of rows) {
    const change = changeOf(row);
    const outcome = await findOutcome(storage, change);
    if (outcome === 'waits') continue;
    await store.write((tx) => recordOutcome(tx, row, change, outcome.name, clock.now()), 'job');
    // The next sweep deletes what is left, and a removed folder, which may take a while.
    if (change.action !== 'delete') await storage.clearEvidence(change).catch(() => {});
  }
}
