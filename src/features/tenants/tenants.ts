import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { Refusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { firstTenant, NewTenant, Tenant, tenantFields } from '#core/records/tenant.ts';
import { normalizeText } from '#core/unicode.ts';
import { claimNewViewId, newViewId } from '#features/links/view-ids.ts';
import { type Caller, changeOperation, readOperation } from '#features/operation.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import type { SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

function checkFirstTenant(caller: Caller): void {
  if (caller.tid !== firstTenant) throw new Refusal('tenantForbidden');
}

/**
 * Creates a tenant with its default login profile, which requires no sign-in.
 * @param tenantId id of the new tenant; undefined: the next free id
 * @returns the id
 */
export async function insertTenant(
  tx: Tx,
  title: string,
  owner: string,
  { clock, random }: Pick<SyncPorts, 'clock' | 'random'>,
  tenantId?: number,
): Promise<number> {
  const [now, viewId, profileTitle] = [clock.now(), newViewId(random), 'Anyone with the link'];
  const { id: tid } = await tx
    .insertInto('tenant')
    .values({ ...(tenantId === undefined ? {} : { id: tenantId }), title, default_profile_id: null, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id } = await tx
    .insertInto('login_profile')
    .values({
      tid,
      version: 1,
      title: profileTitle,
      description: '',
      ip_range: '',
      type_id: profileTypes.PUBLIC,
      view_id: viewId,
      username: '',
      username_key: '',
      password: '',
      lang: '',
      startup_message: '',
      configuration: '',
      session_epoch: 1,
      search_text: profileTitle.toLowerCase(),
      created_owner: owner,
      updated_owner: owner,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await claimNewViewId(tx, tid, viewId, { profile_id: id });
  await tx.updateTable('tenant').set({ default_profile_id: id }).where('id', '=', tid).execute();
  return tid;
}

export const addTenant = changeOperation({
  name: 'tenant/add',
  method: 'POST',
  role: 'admin',
  summary: 'Creates a tenant and its default login profile. Only for admins of tenant 1.',
  message: 'tenantAdded',
  body: NewTenant,
  responseFields: Type.Object({ id: tenantFields.id }),
  async change(body, caller, tx, ports) {
    checkFirstTenant(caller);
    const title = normalizeText(body.title);
    const id = await insertTenant(tx, title, caller.name, ports);
    return { created: { id }, audit: { after: { id, title } } };
  },
});

async function tenantRecords(db: Tx, ids: readonly number[]) {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('tenant')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  const records = rows.map((row) => ({
    id: row.id,
    title: row.title,
    defaultProfileId: row.default_profile_id,
    createDateTime: formatInstant(row.created_at),
    etag: '"1"',
  }));
  return inIdOrder(ids, records);
}

export const searchTenants = readOperation({
  name: 'tenant/search',
  isSearch: true,
  method: 'GET',
  role: 'admin',
  summary: 'Searches tenants. Only for admins of tenant 1.',
  body: searchQuery({}),
  response: searchEnvelope(Tenant),
  async read(query, caller, ports) {
    checkFirstTenant(caller);
    const page = parsePage(query, { id: 'tenant.id', title: 'tenant.title', createDateTime: 'tenant.created_at' });
    let tenants = ports.store.search.selectFrom('tenant');
    if (page.word !== null) tenants = tenants.where(ports.store.dialect.containsWord('tenant.title', page.word));
    if (page.from !== null) tenants = tenants.where('created_at', '>=', page.from);
    if (page.before !== null) tenants = tenants.where('created_at', '<', page.before);
    const { ids, ...rest } = await findPage(ports.store, { matches: tenants, page, id: 'tenant.id' });
    return searchResponse(
      'tenant',
      { list: await tenantRecords(ports.store.search, ids), ...rest },
      page,
      hasFilter(query),
      caller,
      ports,
      'admin',
    );
  },
});
