import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { locationFields } from '#core/records/location.ts';
import { change } from '#features/operation.ts';
import { locationRecord } from './location-rows.ts';

export const deleteLocation = change({
  name: 'location/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes a location that no share uses, never its files.',
  says: 'locationDeleted',
  body: bodyOf(locationFields, ['id'], []),
  target: { table: 'location' },
  async change({ id }, caller, tx, { vault }) {
    const before = await locationRecord(tx, caller.tid, id, vault);
    const { shares } = await tx
      .selectFrom('share')
      .select(sql<number>`count(*)`.as('shares'))
      .where('tid', '=', caller.tid)
      .where('location_id', '=', id)
      .executeTakeFirstOrThrow();
    if (shares > 0) throw new Refusal('locationInUse', `${shares} shares still use the location.`);
    await tx.deleteFrom('location').where('tid', '=', caller.tid).where('id', '=', id).execute();
    return { trail: { before } };
  },
});
