import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import type { storedUserFields } from '#core/records/access-user.ts';
import type { ColumnsOf } from '#core/records/stored-fields.ts';
import type { Tx } from '#ports/store.ts';
import { accessUserSearchText } from './access-user-rows.ts';

export type NewUser = ColumnsOf<typeof storedUserFields>;

/** Returns the profile with the given id; without an id, the tenant's default profile. @throws Refusal 400 at authId */
export async function findProfileForNewUser(tx: Tx, tid: number, authId: number | null | undefined) {
  const profiles = tx.selectFrom('login_profile').select(['id', 'type_id']).where('tid', '=', tid);
  const profileId =
    authId ??
    (await tx.selectFrom('tenant').select('default_profile_id').where('id', '=', tid).executeTakeFirstOrThrow()).default_profile_id;
  const profile = await profiles.where('id', '=', profileId ?? 0).executeTakeFirst();
  if (!profile) throw fieldRefusal('authId', 'is not the id of a login profile');
  return profile;
}

/** Inserts access users with one statement. @returns their ids, in the order of `users` */
export async function insertAccessUsers(
  tx: Tx,
  { users, tid, profileId, owner, now }: { users: readonly NewUser[]; tid: number; profileId: number; owner: string; now: number },
): Promise<number[]> {
  const rows = await tx
    .insertInto('access_user')
    .values(
      users.map((user) => ({
        ...user,
        tid,
        version: 1,
        profile_id: profileId,
        username_key: fold(user.username),
        email_key: fold(user.email),
        password_hash: null,
        session_epoch: 1,
        search_text: accessUserSearchText(user),
        created_owner: owner,
        updated_owner: owner,
        created_at: now,
        updated_at: now,
      })),
    )
    .returning(['id', 'username_key'])
    .execute();
  // Neither database guarantees the order of returned rows.
  const ids = new Map(rows.map(({ id, username_key }) => [username_key, id]));
  return users.map(({ username }) => ids.get(fold(username)) ?? 0);
}
