import type { CompletedSignIn, Identity, ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the identity of an access user, or null if the user is deleted, inactive, in another profile, or of another epoch. */
export async function userIdentity(
  db: Tx,
  profile: Pick<ProfileRef, 'tid' | 'profile_id'>,
  user: NonNullable<CompletedSignIn['user']>,
): Promise<Identity | null> {
  const row = await db
    .selectFrom('access_user')
    .select(['id', 'username', 'email'])
    .where('tid', '=', profile.tid)
    .where('id', '=', user.id)
    .where('profile_id', '=', profile.profile_id)
    .where('active', '=', 1)
    .where('session_epoch', '=', user.epoch)
    .executeTakeFirst();
  // The id is the subject: an id is never given to another user, so a new user with the name of a deleted one is another visitor.
  return row ? { subject: String(row.id), name: row.username, email: row.email, names: [row.username], groups: [] } : null;
}
