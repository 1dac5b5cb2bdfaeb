import { sql } from 'kysely';
import { portalUrl } from '#core/link.ts';
import { type LoginProfile, profileSealPurposes, profileTypeName, secretMask, storedProfileFields } from '#core/records/login-profile.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { sortablePrefix } from '#features/records/record-search.ts';
import { recordStamps } from '#features/records/record-stamps.ts';
import type { SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret } from '#ports/vault.ts';
import { maskConfiguration } from './configuration.ts';

export const loginProfileSortColumns = {
  id: 'login_profile.id',
  title: 'login_profile.title',
  tid: 'login_profile.tid',
  description: sortablePrefix('login_profile.description'),
  ipRange: sortablePrefix('login_profile.ip_range'),
  typeId: 'login_profile.type_id',
  viewId: 'login_profile.view_id',
  username: 'login_profile.username',
  lang: 'login_profile.lang',
  startupMessage: sortablePrefix('login_profile.startup_message'),
  createdOwner: 'login_profile.created_owner',
  updatedOwner: 'login_profile.updated_owner',
  createDateTime: 'login_profile.created_at',
  updateDateTime: 'login_profile.updated_at',
};

const sumCounts = (table: 'share_count' | 'user_count', column: 'shares' | 'users') =>
  sql<number>`(select coalesce(sum(${sql.ref(column)}), 0) from ${sql.table(table)} as counted
    where counted.tid = login_profile.tid and counted.profile_id = login_profile.id)`;

const selectRows = (db: Tx) =>
  db
    .selectFrom('login_profile')
    .selectAll()
    .select([sumCounts('share_count', 'shares').as('share_count'), sumCounts('user_count', 'users').as('user_count')]);
type LoginProfileRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];
type RecordPorts = Pick<SyncPorts, 'links' | 'vault'>;

const maskIfPresent = (configuration: string) => (configuration === '' ? '' : maskConfiguration(configuration));

const recordOf = (row: LoginProfileRow, { links, vault }: RecordPorts): LoginProfile => ({
  id: row.id,
  ...storedProfileFields.toFields(row),
  tid: row.tid,
  typeId: row.type_id,
  typeString: profileTypeName(row.type_id),
  shareCount: row.share_count,
  userCount: row.user_count,
  viewId: row.view_id,
  viewUrl: portalUrl(links.publicUrl(), row.view_id),
  password: row.password === '' ? '' : secretMask,
  configuration: maskIfPresent(openStoredSecret(vault, profileSealPurposes.configuration, row.configuration)),
  ...recordStamps(row),
});

/** Returns the records of a tenant's profiles in the order of the ids, with masked secrets. */
export async function loginProfileRecords(db: Tx, tid: number, ids: readonly number[], ports: RecordPorts): Promise<LoginProfile[]> {
  if (ids.length === 0) return [];
  const rows = await selectRows(db)
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  return inIdOrder(
    ids,
    rows.map((row) => recordOf(row, ports)),
  );
}

/** Returns the record of a profile that this transaction has created or found before. @throws Error if the profile does not exist */
export async function loginProfileRecord(db: Tx, tid: number, id: number, ports: RecordPorts): Promise<LoginProfile> {
  const [record] = await loginProfileRecords(db, tid, [id], ports);
  if (!record) throw new Error(`login profile ${id} is missing in the transaction that created or read it`);
  return record;
}

export const defaultProfileId = async (db: Tx, tid: number): Promise<number | null> =>
  (await db.selectFrom('tenant').select('default_profile_id').where('id', '=', tid).executeTakeFirst())?.default_profile_id ?? null;

/** Returns a profile without configuration, username and counts: for readers, and for requests with `details: false`. */
export const hideProfileDetails = (profile: LoginProfile): LoginProfile => ({
  ...profile,
  configuration: '',
  username: '',
  shareCount: 0,
  userCount: 0,
});
