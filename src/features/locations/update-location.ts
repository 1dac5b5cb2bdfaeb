import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { LocationChange, locationFields } from '#core/records/location.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { discardCounts } from '#features/quotas/counted-folders.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import { sealConfiguration } from '#features/storage-access/open-location.ts';
import { checkLocationName } from './add-location.ts';
import {
  type CheckedLocation,
  checkLocation,
  checkOthersUnchanged,
  locationRecord,
  locationRecords,
  readStorageLocation,
} from './location-rows.ts';

const fixedFields = { kind: 'cannot be changed; add another location', tid: 'cannot be changed' };

export const updateLocation = changeOperation({
  name: 'location/update',
  method: 'POST',
  role: 'admin',
  summary: 'Changes the name, the configuration or the quota of a location. Its shares use the new values.',
  message: 'locationUpdated',
  body: withFixedFields(LocationChange, locationFields, fixedFields),
  computed: ['createdOwner', 'updatedOwner', 'createDateTime', 'updateDateTime', 'usedBytes', 'usedFiles', 'etag'],
  target: { table: 'location' },
  readsAllTenants: true,
  async check(body, caller, ports) {
    const { store, vault } = ports;
    const [before] = await locationRecords(store.read, caller.tid, [body.id], vault);
    const { configuration } = body;
    if (!before || !configuration || configuration === before.configuration) return null;
    const current = await readStorageLocation(store.read, caller.tid, body.id, vault);
    return checkLocation({ tid: caller.tid, kind: before.kind, configuration }, current, ports);
  },
  async change(body, caller, tx, { clock, vault }, checked: CheckedLocation | null) {
    if (checked) await checkOthersUnchanged(tx, caller.tid, checked);
    const before = await locationRecord(tx, caller.tid, body.id, vault);
    checkFixedFields(body, before, fixedFields);
    if (body.name === null) throw fieldRefusal('name', 'must not be empty');
    if (body.configuration === null || body.configuration === '') throw fieldRefusal('configuration', 'must not be empty');
    const name = normalizeText(body.name ?? before.name);
    await checkLocationName(tx, caller.tid, name, before.id);
    await tx
      .updateTable('location')
      .set((row) => ({
        name,
        max_bytes: body.maxBytes === undefined ? before.maxBytes : body.maxBytes,
        max_files: body.maxFiles === undefined ? before.maxFiles : body.maxFiles,
        ...(checked ? { configuration: sealConfiguration(checked.configuration, vault) } : {}),
        search_text: fold(name),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    if (checked) await discardCounts(tx, caller.tid, before.id);
    return { audit: { before, after: await locationRecord(tx, caller.tid, before.id, vault) } };
  },
});
