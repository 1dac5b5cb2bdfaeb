import type { CompletedSignIn, ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

/** Replaces the password of an access user, see `PasswordSignIn.replacePassword`. The new epoch ends the other sign-ins of the user. */
export async function replaceUserPassword(
  tx: Tx,
  profile: ProfileRef,
  current: CompletedSignIn,
  hash: string,
  now: number,
): Promise<CompletedSignIn | null> {
  const { user, identity } = current;
  if (!user) return null;
  const [result] = await tx
    .updateTable('access_user')
    .set((row) => ({
      password_hash: hash,
      session_epoch: user.epoch + 1,
      version: row('version', '+', 1),
      updated_owner: identity.name,
      updated_at: now,
    }))
    .where('tid', '=', profile.tid)
    .where('id', '=', user.id)
    .where('session_epoch', '=', user.epoch) // no match if a change has ended the user's sessions meanwhile, such as another new password
    .execute();
  return Number(result?.numUpdatedRows) === 1 ? { ...current, user: { ...user, epoch: user.epoch + 1 } } : null;
}
