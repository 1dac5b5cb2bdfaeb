import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { rootPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { locationFields, maxLocations, NewLocation } from '#core/records/location.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { addCountedFolder } from '#features/quotas/counted-folders.ts';
import { sealConfiguration } from '#features/storage-access/open-location.ts';
import type { Tx } from '#ports/store.ts';
import { checkLocation, checkOthersUnchanged, locationRecord } from './location-rows.ts';

/** Checks that no other location of the tenant has the name. @throws Refusal 409 */
export async function checkLocationName(tx: Tx, tid: number, name: string, id = 0): Promise<void> {
  const other = await tx
    .selectFrom('location')
    .select('id')
    .where('tid', '=', tid)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst();
  if (other) throw new Refusal('nameTaken', undefined, { fieldErrors: [{ field: 'name', detail: 'is the name of another location' }] });
}

/** Checks that the tenant may have another location. @throws Refusal 409 */
async function checkCount(tx: Tx, tid: number): Promise<void> {
  const { count } = await tx
    .selectFrom('location')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tid', '=', tid)
    .executeTakeFirstOrThrow();
  if (count >= maxLocations) throw new Refusal('locationsTooMany', `A tenant has at most ${maxLocations} locations.`);
}

export const addLocation = changeOperation({
  name: 'location/add',
  method: 'POST',
  role: 'admin',
  summary: 'Adds a location: a place whose files can be shared.',
  message: 'locationAdded',
  body: NewLocation,
  responseFields: Type.Object({ id: locationFields.id }),
  readsAllTenants: true,
  check: (body, caller, ports) => checkLocation({ tid: caller.tid, kind: body.kind, configuration: body.configuration }, null, ports),
  async change(body, caller, tx, { clock, vault }, checked) {
    await checkOthersUnchanged(tx, caller.tid, checked);
    const [now, name] = [clock.now(), normalizeText(body.name)];
    await checkLocationName(tx, caller.tid, name);
    await checkCount(tx, caller.tid);
    const { id } = await tx
      .insertInto('location')
      .values({
        tid: caller.tid,
        version: 1,
        name,
        kind: body.kind,
        configuration: sealConfiguration(checked.configuration, vault),
        search_text: fold(name),
        max_bytes: body.maxBytes ?? null,
        max_files: body.maxFiles ?? null,
        created_owner: caller.name,
        updated_owner: caller.name,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await addCountedFolder(tx, { tid: caller.tid, locationId: id, path: rootPath });
    return { created: { id }, audit: { after: await locationRecord(tx, caller.tid, id, vault) } };
  },
});
