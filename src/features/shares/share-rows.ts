import { type SqlBool, sql } from 'kysely';
import { formatInstant } from '#core/instant.ts';
import { portalUrl, shareUrl } from '#core/link.ts';
import { formatList } from '#core/list-text.ts';
import { fieldRefusal } from '#core/messages.ts';
import { asksSignIn, keepsUsers, profileTypes, typeNameOf } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import type { Links } from '#ports/links.ts';
import type { Tx } from '#ports/store.ts';
import { plainFields } from './share-columns.ts';

/** Active users that a share admits: all of its profile's, or those that it lists. */
const allowedLogins = sql<number>`case
  when login_profile.type_id not in (${profileTypes.USERS}, ${profileTypes.EMAIL_CODE}) then 0
  when share.allow_all_users = 1 then
    (select count(*) from access_user where access_user.profile_id = share.profile_id and access_user.active = 1)
  when login_profile.type_id = ${profileTypes.USERS} then
    (select count(*) from share_user join access_user on access_user.id = share_user.user_id
      where share_user.share_id = share.id and access_user.active = 1)
  else
    (select count(*) from access_user where access_user.profile_id = share.profile_id and access_user.active = 1
      and exists (select 1 from share_user where share_user.share_id = share.id
        and share_user.name_key in (access_user.username_key, access_user.email_key)))
  end`;

/** Rows of shares with what their records take from elsewhere. */
const selectRows = (db: Tx) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', 'login_profile.id', 'share.profile_id')
    .innerJoin('location', 'location.id', 'share.location_id')
    .selectAll('share')
    .select([
      'location.name as location_name',
      'login_profile.type_id',
      'login_profile.view_id as profile_view_id',
      allowedLogins.as('allowed_logins'),
    ]);
export type ShareRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];

/** The names that shares list, in order, by list and share: both lists by one query. */
async function namesOf(db: Tx, shareIds: readonly number[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (shareIds.length === 0) return found;
  const ids = [...shareIds];
  const rows = await db
    .selectFrom('share_user')
    .select([sql<string>`'user'`.as('list'), 'share_id', 'position', 'name'])
    .where('share_id', 'in', ids)
    .unionAll(
      db
        .selectFrom('share_group')
        .select([sql<string>`'group'`.as('list'), 'share_id', 'position', 'name'])
        .where('share_id', 'in', ids),
    )
    .orderBy('position')
    .execute();
  for (const { list, share_id, name } of rows) {
    const key = `${list} ${share_id}`;
    const names = found.get(key) ?? [];
    names.push(name);
    found.set(key, names);
  }
  return found;
}

function recordOf(row: ShareRow, users: readonly string[], groups: readonly string[], publicUrl: string): Share {
  const portal = asksSignIn(row.type_id);
  return {
    id: row.id,
    ...plainFields(row),
    location: row.location_name,
    notifyEmails: row.notify_emails,
    path: row.path,
    viewId: row.view_id,
    viewUrl: shareUrl(publicUrl, row.view_id),
    authViewId: portal ? row.profile_view_id : '',
    authViewUrl: portal ? portalUrl(publicUrl, row.profile_view_id) : '',
    enableAuthview: portal,
    tid: row.tid,
    authenticationId: row.profile_id,
    authTypeId: row.type_id,
    authTypeIdStr: typeNameOf(row.type_id),
    allowedLogins: keepsUsers(row.type_id) ? row.allowed_logins : 0,
    groupNames: formatList(groups),
    userNames: formatList(users),
    validityStartDate: row.valid_from === null ? null : formatInstant(row.valid_from),
    validityEndDate: row.valid_to === null ? null : formatInstant(row.valid_to),
    createdOwner: row.created_owner,
    updatedOwner: row.updated_owner,
    createDateTime: formatInstant(row.created_at),
    updateDateTime: formatInstant(row.updated_at),
    etag: `"${row.version}"`,
  };
}

/** The records of a tenant's shares, in the order of the ids; those that are not the tenant's are left out. */
export async function shareRecords(db: Tx, tid: number, ids: readonly number[], links: Links): Promise<Share[]> {
  if (ids.length === 0) return [];
  const rows = await selectRows(db)
    .where('share.tid', '=', tid)
    .where('share.id', 'in', [...ids])
    .execute();
  const listing = rows.map(({ id }) => id);
  const names = await namesOf(db, listing);
  const byId = new Map(
    rows.map((row) => [row.id, recordOf(row, names.get(`user ${row.id}`) ?? [], names.get(`group ${row.id}`) ?? [], links.publicUrl())]),
  );
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** A record that the change has just made or is about to change: it is there. */
export async function shareRecord(db: Tx, tid: number, id: number, links: Links): Promise<Share> {
  const [record] = await shareRecords(db, tid, [id], links);
  if (!record) throw new Error(`share ${id} vanished within its own transaction`);
  return record;
}

/** The login profile that a share's body names. @throws 400 at the field */
export async function profileNamed(db: Tx, tid: number, id: number) {
  const found = await db
    .selectFrom('login_profile')
    .select(['id', 'type_id', 'title'])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!found) throw fieldRefusal('authenticationId', 'is not the id of a login profile');
  return found;
}

/** What the audit row of a change says of the share. */
export const trailOf = ({ id, title, viewId }: Share) => ({ id, title, viewId });

/** `path` and all below it. */
export const isBelow = (key: string) => {
  const inner = key === '/' ? '' : key;
  return sql<SqlBool>`(share.path_key = ${key} or (share.path_key >= ${`${inner}/`} and share.path_key < ${`${inner}0`}))`;
};
