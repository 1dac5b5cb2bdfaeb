import { sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { type AccessUser, storedUserFields } from '#core/records/access-user.ts';
import { findsUsersByEmail, profileTypeName } from '#core/records/login-profile.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { recordStamps } from '#features/records/record-stamps.ts';
import type { Tx } from '#ports/store.ts';

const profileColumn = (column: 'title' | 'type_id') =>
  sql<string | number>`(select ${sql.ref(column)} from login_profile as user_profile
    where user_profile.tid = access_user.tid and user_profile.id = access_user.profile_id)`;

export const accessUserSortColumns = {
  id: 'access_user.id',
  username: 'access_user.username_key',
  firstName: 'access_user.first_name',
  lastName: 'access_user.last_name',
  email: 'access_user.email',
  authId: 'access_user.profile_id',
  createdOwner: 'access_user.created_owner',
  updatedOwner: 'access_user.updated_owner',
  createDateTime: 'access_user.created_at',
  updateDateTime: 'access_user.updated_at',
  loginProfileName: profileColumn('title'),
  authTypeId: profileColumn('type_id'),
  active: 'access_user.active',
};

const selectRows = (db: Tx) =>
  db
    .selectFrom('access_user')
    .innerJoin('login_profile', (join) =>
      join.onRef('login_profile.tid', '=', 'access_user.tid').onRef('login_profile.id', '=', 'access_user.profile_id'),
    )
    .selectAll('access_user')
    .select(['login_profile.title as profile_title', 'login_profile.type_id']);
type AccessUserRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];

const recordOf = (row: AccessUserRow): AccessUser => ({
  id: row.id,
  ...storedUserFields.toFields(row),
  authId: row.profile_id,
  loginProfileName: row.profile_title,
  authTypeId: row.type_id,
  authTypeStr: profileTypeName(row.type_id),
  ...recordStamps(row),
});

/** Returns the records of a tenant's users, in the order of `ids`. Omits ids that do not exist. */
export async function accessUserRecords(db: Tx, tid: number, ids: readonly number[]): Promise<AccessUser[]> {
  if (ids.length === 0) return [];
  const rows = await selectRows(db)
    .where('access_user.tid', '=', tid)
    .where('access_user.id', 'in', [...ids])
    .execute();
  return inIdOrder(ids, rows.map(recordOf));
}

/** Returns the record of a user that this change has already created or read. @throws Error if the user does not exist */
export async function accessUserRecord(db: Tx, tid: number, id: number): Promise<AccessUser> {
  const [record] = await accessUserRecords(db, tid, [id]);
  if (!record) throw new Error(`access user ${id} is missing in the transaction that created or read it`);
  return record;
}

/** Returns the folded text of a user, in which searches look for words. */
export const accessUserSearchText = (user: { username: string; first_name: string; last_name: string; email: string }) =>
  fold([user.username, user.first_name, user.last_name, user.email].join('\u001f'));

/**
 * Checks that no other user of the profile has the same username or, in a profile with e-mail codes, the same e-mail address.
 * @throws Refusal 409
 */
export async function checkUserUnique(
  tx: Tx,
  tid: number,
  profile: { id: number; type_id: number },
  user: { id?: number; username: string; email: string },
): Promise<void> {
  const others = tx
    .selectFrom('access_user')
    .select('id')
    .where('tid', '=', tid)
    .where('profile_id', '=', profile.id)
    .where('id', '!=', user.id ?? 0);
  const refusal = (field: string, detail: string) => new Refusal('nameTaken', undefined, { fieldErrors: [{ field, detail }] });
  if (await others.where('username_key', '=', fold(user.username)).limit(1).executeTakeFirst())
    throw refusal('username', 'is taken in this login profile');
  if (!findsUsersByEmail(profile.type_id) || user.email === '') return;
  if (await others.where('email_key', '=', fold(user.email)).limit(1).executeTakeFirst())
    throw refusal('email', 'is the address of another user of this login profile');
}

/** Checks that the tenant has the login profile. @throws Refusal 400 at the field */
export async function checkProfile(db: Tx, tid: number, field: string, id: number): Promise<void> {
  const profile = await db.selectFrom('login_profile').select('id').where('tid', '=', tid).where('id', '=', id).executeTakeFirst();
  if (!profile) throw fieldRefusal(field, 'is not the id of a login profile');
}
