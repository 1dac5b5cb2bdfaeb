import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { formatInstant } from '#core/instant.ts';
import { portalUrl, shareUrl } from '#core/link.ts';
import { fieldRefusal } from '#core/messages.ts';
import { asksSignIn, keepsUsers, profileTypes, typeNameOf } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { activeUsersListed, activeUsersNamed } from '#features/records/listed-users.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import { stampsOf } from '#features/records/record-stamps.ts';
import type { Links } from '#ports/links.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { plainFields } from './share-columns.ts';

/** Names on lists: more cost other requests their turn. */
export const mostReadAtOnce = 500;

/** Active users that a share admits: all of its profile's, or those that it lists. */
const allowedLogins = sql<number>`case
  when login_profile.type_id not in (${profileTypes.USERS}, ${profileTypes.EMAIL_CODE}) then 0
  when share.allow_all_users = 1 then
    (select coalesce(sum(active_users), 0) from user_count as counted
      where counted.tid = share.tid and counted.profile_id = share.profile_id)
  when login_profile.type_id = ${profileTypes.USERS} then ${activeUsersListed}
  else ${activeUsersNamed}
  end`;

/** Rows of shares with what their records take from their login profiles and locations. */
const selectJoined = (db: Tx) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'share.tid').onRef('location.id', '=', 'share.location_id'))
    .selectAll('share')
    .select(['location.name as location_name', 'login_profile.type_id', 'login_profile.view_id as profile_view_id']);

/** The same, with how many users each share admits: to count them takes long where a list is long. */
const selectRows = (db: Tx) => selectJoined(db).select(allowedLogins.as('allowed_logins'));
export type ShareRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];

/** A list as formatList writes it: one row for each share, however many names it has. */
const listText = sql<string>`string_agg(
  case when name like '%,%' or name like '%"%' then '"' || replace(name, '"', '""') || '"' else name end, ', ' order by position)`;

/** The lists of shares: users and groups by one query. */
const selectLists = (db: Tx, tid: number | RawBuilder<number>, shareIds: number[] | [RawBuilder<number>]) =>
  db
    .selectFrom('share_user')
    .select([sql<string>`'user'`.as('list'), 'share_id', listText.as('names')])
    .where('tid', '=', tid)
    .where('share_id', 'in', shareIds)
    .groupBy('share_id')
    .unionAll(
      db
        .selectFrom('share_group')
        .select([sql<string>`'group'`.as('list'), 'share_id', listText.as('names')])
        .where('tid', '=', tid)
        .where('share_id', 'in', shareIds)
        .groupBy('share_id'),
    );
const rowById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  selectRows(db).where('share.tid', '=', p('tid')).where('share.id', '=', p('id')),
);
const joinedById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  selectJoined(db).where('share.tid', '=', p('tid')).where('share.id', '=', p('id')),
);
const listsById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) => selectLists(db, p('tid'), [p('id')]));

/** The lists of a share, as texts. */
export type ListTexts = Pick<Share, 'userNames' | 'groupNames'>;

function recordOf(row: ShareRow, { userNames, groupNames }: ListTexts, publicUrl: string): Share {
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
    groupNames,
    userNames,
    validityStartDate: row.valid_from === null ? null : formatInstant(row.valid_from),
    validityEndDate: row.valid_to === null ? null : formatInstant(row.valid_to),
    ...stampsOf(row),
  };
}

/** The records of a tenant's shares, in the order of the ids; those that are not the tenant's are left out. */
export async function shareRecords(db: Tx, tid: number, ids: readonly number[], links: Links): Promise<Share[]> {
  if (ids.length === 0) return [];
  const [id, ...others] = ids;
  const one = id !== undefined && others.length === 0;
  const rows = one
    ? await rowById(db, { tid, id })
    : await selectRows(db)
        .where('share.tid', '=', tid)
        .where('share.id', 'in', [...ids])
        .execute();
  if (rows.length === 0) return [];
  const listing = rows.map((row) => row.id);
  const lists = one ? await listsById(db, { tid, id }) : await selectLists(db, tid, listing).execute();
  const texts = new Map(lists.map(({ list, share_id, names }) => [`${list} ${share_id}`, names]));
  const textsOf = (share: number) => ({ userNames: texts.get(`user ${share}`) ?? '', groupNames: texts.get(`group ${share}`) ?? '' });
  return inIdOrder(
    ids,
    rows.map((row) => recordOf(row, textsOf(row.id), links.publicUrl())),
  );
}

const listedNames = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('share').select('listed_names').where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/** Where a share is read: off the event loop, and in turns, where it lists so many names that others would wait. */
export async function readerOfShare({ read, longRecords }: Pick<Store, 'read' | 'longRecords'>, tid: number, id: number): Promise<Tx> {
  const [row] = await listedNames(read, { tid, id });
  return row && row.listed_names > mostReadAtOnce ? longRecords(tid) : read;
}

const allowedById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .select(allowedLogins.as('count'))
    .where('share.tid', '=', p('tid'))
    .where('share.id', '=', p('id')),
);

/** What a new share takes from elsewhere. */
interface Around {
  readonly location: { readonly name: string };
  readonly profile: { readonly type_id: number; readonly view_id: string };
  readonly lists: ListTexts;
}

/** The record of a share whose row was just written: nothing of it needs to be asked but who may sign in. */
export async function newShareRecord(
  db: Tx,
  row: Selectable<Database['share']>,
  { location, profile, lists }: Around,
  links: Links,
): Promise<Share> {
  const [allowed] = keepsUsers(profile.type_id) ? await allowedById(db, { tid: row.tid, id: row.id }) : [];
  const joined = {
    location_name: location.name,
    type_id: profile.type_id,
    profile_view_id: profile.view_id,
    allowed_logins: allowed?.count ?? 0,
  };
  return recordOf({ ...row, ...joined }, lists, links.publicUrl());
}

const vanished = (id: number) => new Error(`share ${id} vanished within its own transaction`);

/** A record that the change has just made or is about to change: it is there. */
export async function shareRecord(db: Tx, tid: number, id: number, links: Links): Promise<Share> {
  const [record] = await shareRecords(db, tid, [id], links);
  if (!record) throw vanished(id);
  return record;
}

/** The same where its lists are known. @param allowed how many users it admits, where that is known too */
export async function shareRecordWith(
  db: Tx,
  { tid, id }: { readonly tid: number; readonly id: number },
  lists: ListTexts,
  allowed: number | null,
  links: Links,
): Promise<Share> {
  const [row] = await joinedById(db, { tid, id });
  if (!row) throw vanished(id);
  const counted = allowed === null ? (await allowedById(db, { tid, id }))[0]?.count : allowed;
  return recordOf({ ...row, allowed_logins: counted ?? 0 }, lists, links.publicUrl());
}

const versionById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('share').select('version').where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/** A record as it is within a change. @param seen the record as it was read before: read again only where it has changed */
export async function currentRecord(db: Tx, tid: number, id: number, links: Links, seen: Share | undefined): Promise<Share> {
  const [current] = await versionById(db, { tid, id });
  return seen && current && seen.etag === `"${current.version}"` ? seen : shareRecord(db, tid, id, links);
}

const profilesById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('login_profile').select(['id', 'type_id', 'title', 'view_id']).where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/** The login profile that a share's body names. @throws 400 at the field */
export async function profileNamed(db: Tx, tid: number, id: number) {
  const [found] = await profilesById(db, { tid, id });
  if (!found) throw fieldRefusal('authenticationId', 'is not the id of a login profile');
  return found;
}

/** What the audit row of a change says of the share. */
export const auditedShare = ({ id, title, viewId }: Share) => ({ id, title, viewId });

/** `path` and all below it: one range of the index, and within it no name that only begins alike. */
export const isBelow = (key: string) => {
  const inner = key === '/' ? '' : key;
  return sql<SqlBool>`(share.path_key >= ${key} and share.path_key < ${`${inner}0`} and (share.path_key = ${key} or share.path_key >= ${`${inner}/`}))`;
};
