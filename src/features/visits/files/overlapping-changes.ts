import { type ItemPath, joinPaths, parseSegments } from '#core/item-path.ts';
import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { PendingFileChange, Storage } from '#ports/storage.ts';
import { ItemBusy } from '#ports/storage-errors.ts';
import { changeOf, pendingRows } from './recovered-outcome.ts';

// A service renames a folder item by item, and recovery looks for what a change has left at its old path. So while a change of an item is
// made, no folder above it is renamed or deleted, at any location that contains the folder.

const [firstPause, longestPause] = [20, 200]; // ms between two looks at the pending changes
const maxWait = 10_000; // ms

/** Does not keep the process running. */
const pause = (time: number) => new Promise<void>((resolve) => setTimeout(resolve, time).unref());

/** Returns the name of an item, and its new name if it gets one. */
export const namesOf = ({ name, newName = '' }: { readonly name: string; readonly newName?: string }): readonly string[] =>
  newName === '' ? [name] : [name, newName];

/** A change that is about to begin. It is recorded as pending already. */
export interface StartingChange {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  /** The name of the item, and its new name. */
  readonly names: readonly string[];
  readonly action: PendingFileChange['action'];
  readonly token: string;
}

type OverlapPorts = Pick<Ports, 'store' | 'storages' | 'vault'>;
type KeyedStorage = Pick<Storage, 'folderKey'>;

/** The items that a change concerns. */
interface ChangedItems {
  /** Their paths at the service; each ends with a slash. */
  readonly keys: readonly string[];
  /** Whether everything below the items moves with them. */
  readonly isMove: boolean;
}

/** Returns a text with which the text of each item below begins. */
const keyOf = async (storage: KeyedStorage, path: ItemPath) => `${(await storage.folderKey(path)).replace(/\/+$/, '')}/`;

const isBelow = (items: ChangedItems, folders: ChangedItems) =>
  items.keys.some((item) => folders.keys.some((folder) => item.length > folder.length && item.startsWith(folder)));

/** Returns the items with some names in a folder. */
async function itemsOf(
  storage: KeyedStorage,
  { parent, names, action }: Pick<StartingChange, 'parent' | 'names' | 'action'>,
): Promise<ChangedItems> {
  const items = names.map((name) => parseSegments([name])).filter((item) => item !== null);
  return {
    keys: await Promise.all(items.map((item) => keyOf(storage, joinPaths(parent, item)))),
    isMove: action === 'rename' || action === 'delete',
  };
}

/** Returns what the other changes of the tenant concern that have begun at services. */
async function findOthers(ports: OverlapPorts, storage: KeyedStorage, { tid, locationId, token }: StartingChange): Promise<ChangedItems[]> {
  const rows = await pendingRows(ports.store.read)
    .where('unsettled.tid', '=', tid)
    .where('unsettled.token', '!=', token)
    .where('unsettled.started', '=', 1)
    .execute();
  const storages = new Map<number, KeyedStorage | null>([[locationId, storage]]);
  async function storageAt(id: number): Promise<KeyedStorage | null> {
    const location = await findStorageLocation(ports.store.read, { tid, id });
    if (!location || location.kind === 'local') return null;
    return openLocation(location, ports).catch(() => null); // nothing says that it contains the same folders
  }
  const others: ChangedItems[] = [];
  for (const row of rows) {
    const id = row.location_id;
    const own = storages.has(id) ? storages.get(id) : await storageAt(id);
    storages.set(id, own ?? null);
    const change = changeOf(row);
    if (own) others.push(await itemsOf(own, { ...change, names: namesOf(change) }));
  }
  return others;
}

async function findOverlaps(ports: OverlapPorts, storage: KeyedStorage, change: StartingChange) {
  const own = await itemsOf(storage, change);
  const others = await findOthers(ports, storage, change);
  return {
    /** Whether a folder above is being renamed or deleted. */
    above: others.some((other) => other.isMove && isBelow(own, other)),
    /** Whether the change renames or deletes a folder, and an item below is being changed. */
    below: own.isMove && others.some((other) => isBelow(other, own)),
  };
}

const busy = () => new ItemBusy('another change of a folder above or below is not complete');

/** Tries again until a function returns true. @throws ItemBusy after a while */
async function waitUntil(isFree: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxWait;
  for (let wait = firstPause; !(await isFree()); wait = Math.min(2 * wait, longestPause)) {
    if (performance.now() > deadline) throw busy();
    await pause(wait);
  }
}

/**
 * Waits until no change of an item below is pending, for a new folder, a rename or a deletion. Changes that begin below meanwhile are
 * refused, or wait, because this one is recorded as pending.
 * @throws ItemBusy if a rename or deletion of a folder above is pending; or after a while
 */
export async function waitForChangesBelow(ports: OverlapPorts, storage: KeyedStorage, change: StartingChange): Promise<void> {
  await waitUntil(async () => {
    const { above, below } = await findOverlaps(ports, storage, change);
    if (above) throw busy();
    return !below;
  });
}

const setStarted = ({ store }: OverlapPorts, { tid, token }: StartingChange, started: 0 | 1) =>
  store.write((tx) => tx.updateTable('unsettled').set({ started }).where('tid', '=', tid).where('token', '=', token).execute(), 'job');

/**
 * Waits until no rename or deletion of a folder above is pending, for an upload whose file is about to become visible. Then records that
 * it begins, so that renames and deletions above wait for it.
 * @throws ItemBusy after a while
 */
export async function waitForChangesAbove(ports: OverlapPorts, storage: KeyedStorage, change: StartingChange): Promise<void> {
  const isFree = async () => !(await findOverlaps(ports, storage, change)).above;
  await waitUntil(async () => {
    if (!(await isFree())) return false;
    await setStarted(ports, change, 1);
    if (await isFree()) return true;
    await setStarted(ports, change, 0); // a change above has begun at the same moment, and waits for this one
    return false;
  });
}
