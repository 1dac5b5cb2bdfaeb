import { fold } from '#core/fold.ts';
import { userIdentity } from '#features/visits/sign-in/user-identity.ts';
import type { VerifyPassword } from '#ports/password-hash.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, PasswordCredentials, ProfileRef, SignInKind } from '#ports/sign-in.ts';
import { passwordReset } from './password-reset.ts';
import { replaceUserPassword } from './replace-user-password.ts';

type VerifyPorts = Pick<Ports, 'store' | 'clock' | 'passwordHash'>;
type KindPorts = VerifyPorts & Pick<Ports, 'random' | 'vault' | 'mail'>;

async function verifyUserPassword(
  { store, clock }: VerifyPorts,
  profile: ProfileRef,
  { username, password }: PasswordCredentials,
  verify: VerifyPassword,
): Promise<CompletedSignIn | null> {
  const row = await store.read
    .selectFrom('access_user')
    .select(['id', 'password_hash', 'session_epoch'])
    .where('tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('username_key', '=', fold(username))
    .executeTakeFirst();
  const matches = await verify(row?.password_hash ?? null, password);
  if (!row || !matches) return null;
  const user = { id: row.id, epoch: row.session_epoch };
  // Reads the user again: hashing is slow, and the user may have been deactivated meanwhile.
  const identity = await userIdentity(store.read, profile, user);
  return identity && { identity, claimsAt: clock.now(), profileEpoch: profile.session_epoch, user };
}

/** USERS: access users with passwords of their own. A session ends as soon as its user is inactive or has another session epoch. */
export const usersKind = (ports: KindPorts): SignInKind => ({
  password: {
    requiresUsername: () => true,
    attemptName: fold,
    verify: (profile, credentials, { address, countAttempt }) =>
      ports.passwordHash.runInTurn(address, (verify) => countAttempt(() => verifyUserPassword(ports, profile, credentials, verify))),
    replacePassword: replaceUserPassword,
    ...(ports.mail ? { reset: passwordReset(ports) } : {}),
  },
  async reauthenticate(profile, signIn) {
    const { user } = signIn;
    if (!user) return null;
    const findIdentity = () => userIdentity(ports.store.read, profile, user);
    const identity = await ports.store.cachedUntilChange(`user ${profile.profile_id} ${user.id} ${user.epoch}`, findIdentity);
    return identity && { ...signIn, identity };
  },
});
