import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { formatInstant } from '#core/instant.ts';
import { portalUrl, shareUrl } from '#core/link.ts';
import { fieldRefusal } from '#core/messages.ts';
import { hasAccessUsers, listsUsersById, profileTypeName, profileTypesWith, requiresSignIn } from '#core/records/login-profile.ts';
import { type Share, storedShareFields } from '#core/records/share.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { activeUsersById, activeUsersByName } from '#features/records/listed-users.ts';
import { preparedQuery, type QueryParameter } from '#features/records/prepared-query.ts';
import { recordStamps } from '#features/records/record-stamps.ts';
import { shareVersion } from '#features/records/share-version.ts';
import type { Links } from '#ports/links.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** Largest number of listed names that the event loop reads itself: with more, other requests would wait. */
export const maxNamesOnEventLoop = 500;

/** The number of active access users that a share admits: all of its profile, or those that it lists. 0 if the profile has none. */
const allowedLogins = sql<number>`case
  when login_profile.type_id not in (${sql.join(profileTypesWith(hasAccessUsers))}) then 0
  when share.allow_all_users = 1 then
    (select coalesce(sum(active_users), 0) from user_count as counted
      where counted.tid = share.tid and counted.profile_id = share.profile_id)
  when login_profile.type_id in (${sql.join(profileTypesWith(listsUsersById))}) then ${activeUsersById}
  else ${activeUsersByName}
  end`;

/** Selects shares, with the columns of login profiles and locations that a share record contains. */
const selectJoined = (db: Tx) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'share.tid').onRef('location.id', '=', 'share.location_id'))
    .selectAll('share')
    .select(['location.name as location_name', 'login_profile.type_id', 'login_profile.view_id as profile_view_id'])
    .select(shareVersion.as('current_version'));

/** Selects the columns of `selectJoined` and the number of users that each share admits. For long lists, the count takes long. */
const selectRows = (db: Tx) => selectJoined(db).select(allowedLogins.as('allowed_logins'));
export type ShareRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];

/** The text of a list, in the format of `formatList`. In this way, each list of a share is one row, however many names it has. */
const listText = sql<string>`string_agg(
  case when name like '%,%' or name like '%"%' then '"' || replace(name, '"', '""') || '"' else name end, ', ' order by position)`;

/** Selects the user lists and the group lists of shares in one query. */
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
const joinedRowById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  selectJoined(db).where('share.tid', '=', p('tid')).where('share.id', '=', p('id')),
);
const listsById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) => selectLists(db, p('tid'), [p('id')]));

export type ListTexts = Pick<Share, 'userNames' | 'groupNames'>;

function recordOf(row: ShareRow, { userNames, groupNames }: ListTexts, publicUrl: string): Share {
  const hasPortal = requiresSignIn(row.type_id);
  return {
    id: row.id,
    ...storedShareFields.toFields(row),
    location: row.location_name,
    notifyEmails: row.notify_emails,
    path: row.path,
    viewId: row.view_id,
    viewUrl: shareUrl(publicUrl, row.view_id),
    authViewId: hasPortal ? row.profile_view_id : '',
    authViewUrl: hasPortal ? portalUrl(publicUrl, row.profile_view_id) : '',
    enableAuthview: hasPortal,
    tid: row.tid,
    authenticationId: row.profile_id,
    authTypeId: row.type_id,
    authTypeIdStr: profileTypeName(row.type_id),
    allowedLogins: hasAccessUsers(row.type_id) ? row.allowed_logins : 0,
    groupNames,
    userNames,
    validityStartDate: row.valid_from === null ? null : formatInstant(row.valid_from),
    validityEndDate: row.valid_to === null ? null : formatInstant(row.valid_to),
    maxBytes: row.max_bytes,
    maxFiles: row.max_files,
    ...recordStamps({ ...row, version: row.current_version }),
  };
}

/** Returns the records of a tenant's shares, in the order of the ids. Shares of other tenants are left out. */
export async function shareRecords(db: Tx, tid: number, ids: readonly number[], links: Links): Promise<Share[]> {
  if (ids.length === 0) return [];
  const [id, ...others] = ids;
  const isSingle = id !== undefined && others.length === 0;
  const rows = isSingle
    ? await rowById(db, { tid, id })
    : await selectRows(db)
        .where('share.tid', '=', tid)
        .where('share.id', 'in', [...ids])
        .execute();
  if (rows.length === 0) return [];
  const shareIds = rows.map((row) => row.id);
  const lists = isSingle ? await listsById(db, { tid, id }) : await selectLists(db, tid, shareIds).execute();
  const texts = new Map(lists.map(({ list, share_id, names }) => [`${list} ${share_id}`, names]));
  const textsOf = (share: number) => ({ userNames: texts.get(`user ${share}`) ?? '', groupNames: texts.get(`group ${share}`) ?? '' });
  return inIdOrder(
    ids,
    rows.map((row) => recordOf(row, textsOf(row.id), links.publicUrl())),
  );
}

const listedNameCount = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('share').select('listed_names').where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/** Returns the connection that reads a share. For many listed names, it is one for long records, which tenants use in turns. */
export async function selectShareReader(
  { read, longRecordReader: longRecords }: Pick<Store, 'read' | 'longRecordReader'>,
  tid: number,
  id: number,
): Promise<Tx> {
  const [row] = await listedNameCount(read, { tid, id });
  return row && row.listed_names > maxNamesOnEventLoop ? longRecords(tid) : read;
}

const loginCountById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'share.tid').onRef('login_profile.id', '=', 'share.profile_id'),
    )
    .select(allowedLogins.as('count'))
    .where('share.tid', '=', p('tid'))
    .where('share.id', '=', p('id')),
);

/** The parts of a new share's record that are not in its row. */
interface ShareRelations {
  readonly location: { readonly name: string };
  readonly profile: { readonly type_id: number; readonly view_id: string };
  readonly lists: ListTexts;
}

/** Returns the record of a share that was just inserted. Only the number of allowed logins is queried. */
export async function newShareRecord(
  db: Tx,
  row: Selectable<Database['share']>,
  { location, profile, lists }: ShareRelations,
  links: Links,
): Promise<Share> {
  const [logins] = hasAccessUsers(profile.type_id) ? await loginCountById(db, { tid: row.tid, id: row.id }) : [];
  const joined = {
    location_name: location.name,
    type_id: profile.type_id,
    profile_view_id: profile.view_id,
    allowed_logins: logins?.count ?? 0,
    current_version: row.version,
  };
  return recordOf({ ...row, ...joined }, lists, links.publicUrl());
}

const vanishedError = (id: number) => new Error(`share ${id} is missing in the transaction that created or read it`);

/** Returns the record of a share that the caller has created or found before. @throws Error if the share does not exist */
export async function shareRecord(db: Tx, tid: number, id: number, links: Links): Promise<Share> {
  const [record] = await shareRecords(db, tid, [id], links);
  if (!record) throw vanishedError(id);
  return record;
}

/**
 * Returns the record of a share whose lists the caller has already.
 * @param loginCount the number of users that the share admits; null: count them
 * @throws Error if the share does not exist
 */
export async function shareRecordWithLists(
  db: Tx,
  { tid, id }: { readonly tid: number; readonly id: number },
  lists: ListTexts,
  loginCount: number | null,
  links: Links,
): Promise<Share> {
  const [row] = await joinedRowById(db, { tid, id });
  if (!row) throw vanishedError(id);
  const count = loginCount === null ? (await loginCountById(db, { tid, id }))[0]?.count : loginCount;
  return recordOf({ ...row, allowed_logins: count ?? 0 }, lists, links.publicUrl());
}

const versionById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('share').select(shareVersion.as('version')).where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/**
 * Returns the record of a share within a change.
 * @param checked the record that the operation's `check` has read. Otherwise, or if the share has changed since, it is read now
 */
export async function currentShareRecord(db: Tx, tid: number, id: number, links: Links, checked: Share | undefined): Promise<Share> {
  const [current] = await versionById(db, { tid, id });
  return checked && current && checked.etag === `"${current.version}"` ? checked : shareRecord(db, tid, id, links);
}

const profilesById = preparedQuery((db, p: QueryParameter<{ tid: number; id: number }>) =>
  db.selectFrom('login_profile').select(['id', 'type_id', 'title', 'view_id']).where('tid', '=', p('tid')).where('id', '=', p('id')),
);

/** Returns the login profile with the id that a request for a share contains. @throws Refusal 400 at authenticationId */
export async function findShareProfile(db: Tx, tid: number, id: number) {
  const [profile] = await profilesById(db, { tid, id });
  if (!profile) throw fieldRefusal('authenticationId', 'is not the id of a login profile');
  return profile;
}

export const shareAuditFields = ({ id, title, viewId }: Share) => ({ id, title, viewId });

/**
 * Returns the condition for the path `key` and everything below it, as one range of the index. Paths that only begin alike do not match,
 * such as `/ab` for `/a`.
 */
export const pathCondition = (key: string) => {
  const inner = key === '/' ? '' : key;
  return sql<SqlBool>`(share.path_key >= ${key} and share.path_key < ${`${inner}0`} and (share.path_key = ${key} or share.path_key >= ${`${inner}/`}))`;
};
