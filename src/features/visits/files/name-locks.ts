import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { ChangeMark, Storage } from '#ports/storage.ts';

/** A name in a folder of a location. */
export interface LockedName {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly name: string;
}

/**
 * Runs the changes that take one name one after the other, in whichever process, and through whichever of the locations
 * that hold the folder: each sees what the one before it left.
 */
export async function withNameLock<T>(
  { store }: Pick<Ports, 'store'>,
  storage: Pick<Storage, 'onDisk'>,
  { locationId, parent, name }: LockedName,
  work: () => Promise<T>,
): Promise<T> {
  const folder = storage.onDisk(parent) ?? `${locationId} ${formatItemPath(parent)}`;
  return store.exclusive(`name ${folder}/${name}`, work);
}

/** The mark of a change that takes a name, in its turn: it names the other new folders and renames of that name that have begun and not ended. */
export async function changeMark({ store }: Pick<Ports, 'store'>, taken: LockedName, token: string): Promise<ChangeMark> {
  const rows = await store.read
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .select('token')
    .where('unsettled.tid', '=', taken.tid)
    .where('audit.action', 'in', ['createFolder', 'rename'])
    .where('location_id', '=', taken.locationId)
    .where('parent', '=', formatItemPath(taken.parent))
    .where(({ or, and, eb }) => or([eb('new_name', '=', taken.name), and([eb('new_name', '=', ''), eb('name', '=', taken.name)])]))
    .where('token', '!=', token)
    .execute();
  return { token, overtaken: rows.map((row) => row.token) };
}
