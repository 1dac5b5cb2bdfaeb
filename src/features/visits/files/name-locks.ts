import { expressionBuilder } from 'kysely';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import type { Ports } from '#ports/ports.ts';
import type { ChangeContext, Storage } from '#ports/storage.ts';
import type { Database } from '#ports/tables.ts';

export interface LockedName {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  readonly name: string;
}

/**
 * Runs a change while it holds exclusive locks of names in a folder. `names` must list all names that the change uses. The locks
 * are shared by all processes, and by all locations that contain the folder.
 */
export async function withNameLocks<T>(
  { store }: Pick<Ports, 'store'>,
  storage: Pick<Storage, 'folderKey'>,
  parent: ItemPath,
  names: readonly string[],
  change: () => Promise<T>,
): Promise<T> {
  const folder = await storage.folderKey(parent);
  return store.withLocks(
    names.map((name) => `name ${folder}/${name}`),
    change,
  );
}

/** Returns the condition that a pending change results in an item with the name. */
export function resultsInName(name: string) {
  const row = expressionBuilder<Database, 'unsettled'>();
  return row.or([row('unsettled.new_name', '=', name), row.and([row('unsettled.new_name', '=', ''), row('unsettled.name', '=', name)])]);
}

/** Returns the context of a change that holds the lock of a name. It lists the other pending new folders and renames to that name. */
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
