import { type SqlBool, sql } from 'kysely';
import type { CountChangeTable } from '#ports/quota-tables.ts';
import type { Tx } from '#ports/store.ts';

/**
 * Maximum number of counted folders that one transaction changes. A tenant may have 100,000 of them, and other changes wait while a
 * transaction runs.
 */
const batchSize = 1000;

/** A change of the counted folders below a path. For the path `/`, the root is changed too. */
interface CountChange {
  readonly tid: number;
  readonly locationId: number;
  readonly path: string;
  readonly action: CountChangeTable['action'];
}

/** Returns an SQL condition for the folders whose paths are in a range, in the order of code points. @param to excluded */
const isInRange = ({ tid, locationId }: CountChange, from: string, to: string) =>
  sql<SqlBool>`tid = ${tid} and location_id = ${locationId} and path >= ${from} and path < ${to}`;

async function changeRange(tx: Tx, { action }: CountChange, range: ReturnType<typeof isInRange>): Promise<void> {
  if (action !== 'count') await tx.deleteFrom('used_space').where(range).execute();
  if (action === 'delete') await tx.deleteFrom('counted_folder').where(range).execute();
  else
    await tx
      .updateTable('counted_folder')
      .set({ due_at: 0, ...(action === 'discard' ? { counted_at: null } : {}) })
      .where(range)
      .execute();
}

const startOf = (path: string) => (path === '/' ? path : `${path}/`);

/**
 * Changes `batchSize` counted folders of a change, from `from` on. A job changes the rest, one batch after the other.
 * @param from the batch contains only folders whose paths are not less
 */
export async function changeCountedFolders(tx: Tx, change: CountChange, from = startOf(change.path)): Promise<void> {
  const end = `${startOf(change.path).slice(0, -1)}0`; // `0` follows `/` in the order of code points
  const next = await tx
    .selectFrom('counted_folder')
    .select('path')
    .where(isInRange(change, from, end))
    .orderBy('path')
    .offset(batchSize)
    .limit(1)
    .executeTakeFirst();
  await changeRange(tx, change, isInRange(change, from, next?.path ?? end));
  if (!next) return;
  const { tid, locationId, path, action } = change;
  await tx
    .insertInto('count_change')
    .values({ tid, location_id: locationId, path, action, next_path: next.path })
    // If this change already has a row, the row now continues at `next`: the folders before `next` have just been changed.
    .onConflict((conflict) => conflict.columns(['tid', 'location_id', 'path', 'action']).doUpdateSet({ next_path: next.path }))
    .execute();
}

/** Selects a change of a tenant that is not complete. */
const incompleteChange = (db: Tx, tid: number) =>
  db.selectFrom('count_change').selectAll().where('tid', '=', tid).orderBy('location_id').orderBy('path').orderBy('action').limit(1);

export const hasCountChange = async (db: Tx, tid: number): Promise<boolean> =>
  (await incompleteChange(db, tid).executeTakeFirst()) !== undefined;

/** Continues an incomplete change of a tenant with the next batch of folders, if there is such a change. */
export async function continueCountChange(tx: Tx, tid: number): Promise<void> {
  const row = await incompleteChange(tx, tid).executeTakeFirst();
  if (!row) return;
  const { location_id, path, action, next_path } = row;
  await tx
    .deleteFrom('count_change')
    .where(({ and }) => and({ tid, location_id, path, action }))
    .execute();
  await changeCountedFolders(tx, { tid, locationId: location_id, path, action }, next_path);
}
