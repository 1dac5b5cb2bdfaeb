import { formatItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { Storage } from '#ports/storage.ts';
import { type LockedName, resultsInName } from './name-locks.ts';
import { changeOf, pendingRows, recordOutcome } from './recovered-outcome.ts';

/**
 * Records the outcome of pending changes that have created the item with a name. Call it under the lock of the name, before the item is
 * renamed, deleted or replaced: afterwards, recovery could not tell that they took place. A change that has begun and has not taken place
 * ends here: neither its process nor recovery may complete it afterwards. A change that has not begun stays pending, because its process
 * waits for the lock.
 * @param token of the change that follows
 */
export async function recordEarlierChanges(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  storage: Pick<Storage, 'recover' | 'giveUp' | 'clearEvidence'>,
  { tid, locationId, parent, name }: LockedName,
  token: string,
): Promise<void> {
  const rows = await pendingRows(store.read)
    .where('unsettled.tid', '=', tid)
    .where('unsettled.location_id', '=', locationId)
    .where('unsettled.parent', '=', formatItemPath(parent))
    .where('unsettled.token', '!=', token)
    .where('audit.action', '!=', 'delete')
    .where(resultsInName(name))
    .execute();
  for (const row of rows) {
    const change = changeOf(row);
    const createdName = await storage.recover(change);
    if (createdName === null && !(await storage.giveUp(change))) continue;
    await store.write((tx) => recordOutcome(tx, row, change, createdName, clock.now()), 'job');
    await storage.clearEvidence(change).catch(() => {}); // the next sweep deletes it
  }
}
