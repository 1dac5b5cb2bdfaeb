import { type RawBuilder, sql } from 'kysely';

/**
 * Returns an SQL expression for the id of the user with the listed name, or null. It is for a query or an update of a user list.
 * Uses `is not distinct from` so that PostgreSQL does not use the index on profiles: without statistics it assumes one user in a
 * profile, and would read all users of the profile for each name. SQLite can use the index with this operator.
 * @param list alias of the list in the query
 */
export const listedUserId = (list: 'list_entry' | 'share_user', profileId: number | RawBuilder<number>) => sql<number | null>`
  (select id from access_user as named where named.tid = ${sql.ref(`${list}.tid`)}
    and named.username_key = ${sql.ref(`${list}.name_key`)} and named.profile_id is not distinct from ${profileId})`;

/** SQL for the id of the user with the listed e-mail address, or null. The address is unique only in an EMAIL_CODE profile. */
const userOfAddress = sql`
  (select id from access_user as named where named.tid = list_entry.tid
    and named.profile_id = share.profile_id and named.email_key = list_entry.name_key limit 1)`;

const fromShareList = sql`from share_user as list_entry where list_entry.tid = share.tid and list_entry.share_id = share.id`;

const isActive = (id: RawBuilder<unknown>) =>
  sql`(select active from access_user as named where named.tid = share.tid and named.id = ${id}) = 1`;

// The two counts below find the user of each list entry by a subquery: without statistics, PostgreSQL would join entries and users by a
// nested loop.

/** SQL expression: the number of active users that a share lists by id. */
export const activeUsersById = sql<number>`(select count(*) ${fromShareList} and ${isActive(sql`list_entry.user_id`)})`;

/** SQL expression: the number of active users that a share lists by name or e-mail address. */
export const activeUsersByName = sql<number>`(select count(*) from (
  select ${listedUserId('list_entry', sql`share.profile_id`)} as id ${fromShareList}
  union select ${userOfAddress} as id ${fromShareList}) as either where ${isActive(sql`either.id`)})`;
