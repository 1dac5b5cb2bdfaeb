import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { ChangeMark } from '#ports/storage.ts';

/** A name in a folder of a location. */
export interface TakenName {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly name: string;
}

/** Runs the changes that take one name one after the other, in whichever process: each sees what the one before it left. */
export const inTurn = <T>({ store }: Pick<Ports, 'store'>, { locationId, parent, name }: TakenName, work: () => Promise<T>): Promise<T> =>
  store.exclusive(`name ${locationId} ${formatItemPath(parent)}/${name}`, work);

/** The mark of a change that takes a name, in its turn: others that have begun to take it and have not ended are told. */
export async function markOf({ store }: Pick<Ports, 'store'>, taken: TakenName, token: string): Promise<ChangeMark> {
  const rows = await store.read
    .selectFrom('unsettled')
    .select('token')
    .where('tid', '=', taken.tid)
    .where('location_id', '=', taken.locationId)
    .where('parent', '=', formatItemPath(taken.parent))
    .where(({ or, and, eb }) => or([eb('new_name', '=', taken.name), and([eb('new_name', '=', ''), eb('name', '=', taken.name)])]))
    .where('token', '!=', token)
    .execute();
  return { token, overtaken: rows.map((row) => row.token) };
}
