import { Refusal } from '#core/messages.ts';
import { apiKeyFields, environmentKeyName } from '#core/records/api-key.ts';
import { bodyOf } from '#core/records/field.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { changeOperation } from '#features/operation.ts';
import { apiKeyRecords } from './api-key-rows.ts';

export const deleteApiKey = changeOperation({
  name: 'apikey/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes an API key and its tokens. They stop working at once.',
  message: 'apiKeyDeleted',
  body: bodyOf(apiKeyFields, ['id'], []),
  target: { table: 'api_key' },
  async change({ id }, caller, tx) {
    const [before] = await apiKeyRecords(tx, caller.tid, [id]);
    if (before?.name === environmentKeyName && caller.tid === firstTenant)
      throw new Refusal('keyFixed', 'This key is set by POSTERN_API_KEY: change it there.');
    await tx.deleteFrom('api_key').where('id', '=', id).execute();
    return { audit: { before: before ?? null } };
  },
});
