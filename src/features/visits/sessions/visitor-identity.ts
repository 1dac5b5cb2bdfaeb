import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { Tx } from '#ports/store.ts';

/** The columns of a login profile that a sign-in needs. */
export interface ProfileRef {
  readonly tid: number;
  readonly profile_id: number;
  readonly type_id: number;
  readonly session_epoch: number;
  readonly profile_username: string;
}

/** Returns the identity of a visitor who signed in with the password of a PASSWORD profile. */
export const profileIdentity = ({ profile_username: name }: ProfileRef): SignedInVisitor => ({
  userId: null,
  name,
  email: '',
  names: [name],
  groups: [],
});

/** Returns the identity of an access user, or null if the user is inactive, has left the profile, or has a newer session epoch. */
export async function userIdentity(
  db: Tx,
  profile: Pick<ProfileRef, 'tid' | 'profile_id'>,
  userId: number,
  epoch: number,
): Promise<SignedInVisitor | null> {
  const user = await db
    .selectFrom('access_user')
    .select(['id', 'username', 'email'])
    .where('tid', '=', profile.tid)
    .where('id', '=', userId)
    .where('profile_id', '=', profile.profile_id)
    .where('active', '=', 1)
    .where('session_epoch', '=', epoch)
    .executeTakeFirst();
  return user ? { userId: user.id, name: user.username, email: user.email, names: [user.username], groups: [] } : null;
}
