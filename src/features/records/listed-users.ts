import { type RawBuilder, sql } from 'kysely';

/**
 * The id of the user whose name stands on a list, else null; for a query over that list.
 * PostgreSQL takes no index for `is not distinct from`: before it has counted a profile's users, it takes them for one
 * and would read all of them for each name. SQLite does take one.
 * @param list what the query calls the list
 */
export const listedUser = (list: 'listed' | 'share_user', profileId: number | RawBuilder<number>) => sql<number | null>`
  (select id from access_user as named where named.tid = ${sql.ref(`${list}.tid`)}
    and named.username_key = ${sql.ref(`${list}.name_key`)} and named.profile_id is not distinct from ${profileId})`;

/** The same by the address, which is one user's only in a profile that sends codes. */
const listedAddress = sql`
  (select id from access_user as named where named.tid = listed.tid
    and named.profile_id = share.profile_id and named.email_key = listed.name_key limit 1)`;

const ofShare = sql`from share_user as listed where listed.tid = share.tid and listed.share_id = share.id`;

const isActive = (id: RawBuilder<unknown>) =>
  sql`(select active from access_user as named where named.tid = share.tid and named.id = ${id}) = 1`;

// Each is looked up for itself: a join of two lists that PostgreSQL has not counted yet compares all with all.

/** How many active users a share lists by their ids. */
export const activeUsersListed = sql<number>`(select count(*) ${ofShare} and ${isActive(sql`listed.user_id`)})`;

/** How many active users a share lists by their names or addresses. */
export const activeUsersNamed = sql<number>`(select count(*) from (
  select ${listedUser('listed', sql`share.profile_id`)} as id ${ofShare}
  union select ${listedAddress} as id ${ofShare}) as either where ${isActive(sql`either.id`)})`;
