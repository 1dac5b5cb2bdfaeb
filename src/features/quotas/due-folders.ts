import type { Tx } from '#ports/store.ts';
import type { CountedFolder, CountPorts } from './count-folder.ts';

const foldersWithLocation = (db: Tx) =>
  db
    .selectFrom('counted_folder')
    .innerJoin('location', (join) =>
      join.onRef('location.tid', '=', 'counted_folder.tid').onRef('location.id', '=', 'counted_folder.location_id'),
    );

/** Selects a folder that was counted while the clock was ahead: its due time is too late. */
const folderCountedAhead = ({ store, clock }: CountPorts) =>
  foldersWithLocation(store.read)
    .select('counted_folder.tid')
    .where('counted_at', '>', clock.now())
    .orderBy('counted_at')
    .limit(1)
    .executeTakeFirst();

const firstDueFolder = ({ store, clock }: CountPorts) =>
  foldersWithLocation(store.read)
    .select('counted_folder.tid')
    .where('due_at', '<=', clock.now())
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();

/** Selects a change of counted folders that is not complete. */
const firstIncompleteChange = ({ store }: CountPorts) => store.read.selectFrom('count_change').select('tid').limit(1).executeTakeFirst();

/**
 * Returns whether a folder is due or was counted while the clock was ahead, or a change of counted folders is not complete. Runs each
 * second, so each query reads only one row of an index.
 */
export async function hasDueFolders(ports: CountPorts): Promise<boolean> {
  for (const query of [firstDueFolder, firstIncompleteChange, folderCountedAhead]) if ((await query(ports)) !== undefined) return true;
  return false;
}

/** Makes the folders due that were counted while the clock was ahead. @throws StoreUnavailable, StoreFull */
export async function resetFutureCounts(ports: CountPorts): Promise<void> {
  for (let folder = await folderCountedAhead(ports); folder; folder = await folderCountedAhead(ports)) {
    const [{ tid }, now] = [folder, ports.clock.now()];
    const times = { counted_at: now, due_at: now };
    await ports.store.write(
      (tx) => tx.updateTable('counted_folder').set(times).where('tid', '=', tid).where('counted_at', '>', now).execute(),
      'job',
    );
  }
}

/**
 * Returns the tenants that have due folders, or a change of counted folders that is not complete. Looks up one folder of each tenant: a
 * tenant may have 100,000 due folders.
 */
export async function findDueTenants({ store, clock }: CountPorts): Promise<readonly number[]> {
  const tenants = await store.read
    .selectFrom('tenant')
    .select('id')
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('counted_folder').select('path').whereRef('counted_folder.tid', '=', 'tenant.id').where('due_at', '<=', clock.now()),
        ),
        exists(selectFrom('count_change').select('path').whereRef('count_change.tid', '=', 'tenant.id')),
      ]),
    )
    .orderBy('id')
    .execute();
  return tenants.map(({ id }) => id);
}

/** Returns the folder of a tenant that has been due the longest. */
export const findDueFolder = ({ store, clock }: CountPorts, tid: number): Promise<CountedFolder | undefined> =>
  foldersWithLocation(store.read)
    .selectAll('location')
    .select('path')
    .where('counted_folder.tid', '=', tid)
    .where('due_at', '<=', clock.now())
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
