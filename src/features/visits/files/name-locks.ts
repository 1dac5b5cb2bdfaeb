import { expressionBuilder } from 'kysely';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { ChangeContext, Storage } from '#ports/storage.ts';
import type { WriteTurn } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { type HoldPorts, holdingNames } from './held-names.ts';

export interface LockedName {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly name: string;
}

/** The change that needs the names. */
interface LockOwner {
  readonly token: string;
  readonly turn: WriteTurn;
}

/**
 * Runs a change while no other change uses `names` in a folder, in any process and at any location that contains the folder. `names`
 * must list all names that the change uses.
 */
export async function withNameLocks<T>(
  ports: HoldPorts,
  storage: Pick<Storage, 'folderKey'>,
  parent: ItemPath,
  names: readonly string[],
  { token, turn }: LockOwner,
  change: () => Promise<T>,
): Promise<T> {
  const folder = await storage.folderKey(parent);
  const keys = names.map((name) => `name ${folder}/${name}`);
  // The locks let waiting changes take turns. If a lock is lost with its connection, the held names still protect the change.
  return ports.store.withLocks(keys, () => holdingNames(ports, keys, token, turn, change));
}

/** Returns the condition that a pending change results in an item with the name. */
export function resultsInName(name: string) {
  const row = expressionBuilder<Database, 'unsettled'>();
  return row.or([row('unsettled.new_name', '=', name), row.and([row('unsettled.new_name', '=', ''), row('unsettled.name', '=', name)])]);
}

/** Returns the context of a change that holds the lock of a name. The context lists the tokens of other changes to that name. */
export async function findChangeContext({ store }: Pick<Ports, 'store'>, lockedName: LockedName, token: string): Promise<ChangeContext> {
  const rows = await store.read
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .select('token')
    .where('unsettled.tid', '=', lockedName.tid)
    .where('audit.action', 'in', ['createFolder', 'rename'])
    .where('location_id', '=', lockedName.locationId)
    .where('parent', '=', formatItemPath(lockedName.parent))
    .where(resultsInName(lockedName.name))
    .where('token', '!=', token)
    .execute();
  return { token, pendingTokens: rows.map((row) => row.token) };
}
