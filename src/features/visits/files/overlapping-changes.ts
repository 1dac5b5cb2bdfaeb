import { type ItemPath, parseStoredPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import { ItemBusy } from '#ports/storage-errors.ts';
import { pendingRows } from './recovered-outcome.ts';

/** An item that a change creates, renames or deletes. */
interface ChangedItem {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly name: string;
  readonly action: 'createFolder' | 'rename' | 'delete';
}

/** Returns whether an item is in a folder, or below it. */
const isBelow = (item: readonly string[], folder: readonly string[]) =>
  item.length > folder.length && folder.every((segment, index) => segment === item[index]);

/**
 * Checks that no rename or deletion of a folder above the item is pending, nor, if the change renames or deletes the item, of an item below
 * it. A service makes such a change object by object, and recovery looks for it at its old path. Both changes are recorded as pending before
 * they are checked, so two that begin at the same moment see each other.
 * @param token of the change
 * @throws ItemBusy
 */
export async function checkOverlaps(
  { store }: Pick<Ports, 'store'>,
  { tid, locationId, parent, name, action }: ChangedItem,
  token: string,
): Promise<void> {
  const item = [...parent, name];
  const rows = await pendingRows(store.read)
    .where('unsettled.tid', '=', tid)
    .where('unsettled.location_id', '=', locationId)
    .where('token', '!=', token)
    .where('audit.action', 'in', ['rename', 'delete'])
    .execute();
  for (const row of rows) {
    const other = [...(parseStoredPath(row.parent) ?? []), row.name];
    if (isBelow(item, other) || (action !== 'createFolder' && isBelow(other, item)))
      throw new ItemBusy('another change of a folder above or below is not complete');
  }
}
