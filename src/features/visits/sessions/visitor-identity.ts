import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { Tx } from '#ports/store.ts';

/** A login profile as a sign-in knows it. */
export interface ProfileRef {
  readonly tid: number;
  readonly profile_id: number;
  readonly type_id: number;
  readonly session_epoch: number;
  readonly profile_username: string;
}

/** Whoever knows the one password of a PASSWORD profile. */
export const profileIdentity = ({ profile_username: name }: ProfileRef): SignedInVisitor => ({
  userId: null,
  name,
  email: '',
  names: [name],
  groups: [],
});

/** An access user, if still the one that signed in: active, in that profile, sessions not ended since. */
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
