import Type from 'typebox';
import { parseInstant } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { apiKeyFields, environmentKeyName, NewApiKey } from '#core/records/api-key.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { normalizeText } from '#core/unicode.ts';
import { changeOperation } from '#features/operation.ts';
import { resolveTenant } from '#features/records/resolve-tenant.ts';
import type { Tx } from '#ports/store.ts';
import { apiKeyRecords, insertKey, keyBits, keyPrefix } from './api-key-rows.ts';

function parseExpiry(text: string | null | undefined, now: number): number | null {
  if (!text) return null;
  const at = parseInstant(text, 'firstOfNextDay');
  if (at === null) throw fieldRefusal('expiryDateTime', 'must be an existing date or date-time in ISO 8601 format');
  if (at <= now) throw fieldRefusal('expiryDateTime', 'must be in the future');
  return at;
}

/** @throws Refusal (400) if tenant 1 reserves the name for the key from POSTERN_API_KEY; (409) if another valid key has the name */
async function checkName(tx: Tx, tid: number, name: string, now: number): Promise<void> {
  // A start with another POSTERN_API_KEY, or without one, deletes the keys with this name.
  if (name === environmentKeyName && tid === firstTenant)
    throw fieldRefusal('name', `must not be ${environmentKeyName}: tenant 1 reserves this name for the key from POSTERN_API_KEY`);
  const existing = await tx
    .selectFrom('api_key')
    .select('id')
    .where('tid', '=', tid)
    .where('name', '=', name)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst();
  if (existing)
    throw new Refusal('nameTaken', undefined, { fieldErrors: [{ field: 'name', detail: 'is already the name of another valid key' }] });
}

export const addApiKey = changeOperation({
  name: 'apikey/add',
  method: 'POST',
  role: 'admin',
  summary: 'Creates an API key. The response is the only one that contains the key itself.',
  message: 'apiKeyAdded',
  body: NewApiKey,
  responseFields: Type.Object({ id: apiKeyFields.id, key: Type.String({ description: 'The key. It is not returned again.' }) }),
  async change(body, caller, tx, { clock, random }) {
    const [now, name] = [clock.now(), normalizeText(body.name)];
    const tid = await resolveTenant(tx, caller, body.tid);
    if (body.role === 'metrics' && tid !== firstTenant)
      throw fieldRefusal('role', 'must be reader, editor or admin: the role metrics exists only in tenant 1');
    await checkName(tx, tid, name, now);
    const key = keyPrefix + random.token(keyBits);
    const id = await insertKey(
      tx,
      { tid, name, role: body.role, key, expiresAt: parseExpiry(body.expiryDateTime, now), owner: caller.name },
      now,
    );
    const [after] = await apiKeyRecords(tx, tid, [id]);
    return { created: { id, key }, audit: { after: after ?? null } };
  },
});
