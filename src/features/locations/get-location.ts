import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { Location, locationFields } from '#core/records/location.ts';
import { readOperation } from '#features/operation.ts';
import { locationRecords } from './location-rows.ts';

export const getLocation = readOperation({
  name: 'location/get',
  method: 'POST',
  role: 'admin',
  summary: 'Returns a location.',
  body: bodyOf(locationFields, ['id'], []),
  response: Location,
  async read({ id }, caller, { store, vault }) {
    const [record] = await locationRecords(store.read, caller.tid, [id], vault);
    if (!record) throw new Refusal('recordUnknown');
    return record;
  },
});
