import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { locationFields } from '#core/records/location.ts';
import { changeOperation } from '#features/operation.ts';
import { deleteCountedFolders } from '#features/quotas/counted-folders.ts';
import type { Tx } from '#ports/store.ts';
import { locationRecord } from './location-rows.ts';

const sharesOf = (db: Tx, tid: number, id: number) => db.selectFrom('share').where('tid', '=', tid).where('location_id', '=', id);

export const deleteLocation = changeOperation({
  name: 'location/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes a location that no share uses. Its files are not deleted.',
  message: 'locationDeleted',
  body: bodyOf(locationFields, ['id'], []),
  target: { table: 'location' },
  /** Counts the shares before the transaction: if the transaction read them all, concurrent changes could fail with a conflict. */
  async check({ id }, { tid }, { store }) {
    const { shares } = await sharesOf(store.search, tid, id).select(sql<number>`count(*)`.as('shares')).executeTakeFirstOrThrow();
    if (shares > 0) throw new Refusal('locationInUse', `The location is still in use. Shares: ${shares}.`);
  },
  async change({ id }, caller, tx, { vault }) {
    const before = await locationRecord(tx, caller.tid, id, vault);
    const share = await sharesOf(tx, caller.tid, id).select('id').limit(1).executeTakeFirst();
    if (share) throw new Refusal('locationInUse', 'A share still uses the location.');
    await tx.deleteFrom('location').where('tid', '=', caller.tid).where('id', '=', id).execute();
    await deleteCountedFolders(tx, caller.tid, id);
    return { audit: { before } };
  },
});
