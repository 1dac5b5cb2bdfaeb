import { createHash, timingSafeEqual } from 'node:crypto';
import { fold } from '#core/fold.ts';
import { profileSealPurposes } from '#core/records/login-profile.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, Identity, PasswordCredentials, ProfileRef, SignInKind } from '#ports/sign-in.ts';
import { openStoredSecret } from '#ports/vault.ts';

type KindPorts = Pick<Ports, 'store' | 'vault' | 'clock'>;

/** Everybody who knows the password of a profile is the same visitor, whatever the profile's user name is. */
const identityOf = ({ profile_id, profile_username: name }: ProfileRef): Identity => ({
  subject: String(profile_id),
  name,
  email: '',
  names: [name],
  groups: [],
});

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** Verifies the password of a profile. If the profile has no user name, any name is accepted. */
async function verifyProfilePassword(
  { store, vault, clock }: KindPorts,
  profile: ProfileRef,
  { username, password }: PasswordCredentials,
): Promise<CompletedSignIn | null> {
  const row = await store.read
    .selectFrom('login_profile')
    .select(['password', 'session_epoch'])
    .where('tid', '=', profile.tid)
    .where('id', '=', profile.profile_id)
    .executeTakeFirstOrThrow();
  const profilePassword = openStoredSecret(vault, profileSealPurposes.password, row.password);
  // Empty: the stored password is lost (see `openStoredSecret`). No password may match then, not even an empty one.
  if (profilePassword === '') return null;
  const nameMatches = profile.profile_username === '' || equal(fold(profile.profile_username), fold(username));
  const matches = equal(profilePassword, password) && nameMatches;
  return matches ? { identity: identityOf(profile), claimsAt: clock.now(), profileEpoch: row.session_epoch, user: null } : null;
}

/** PASSWORD: all visitors share the password of the login profile. No check but that of the epoch ends a sign-in. */
export const passwordKind = (ports: KindPorts): SignInKind => ({
  password: {
    requiresUsername: ({ profile_username }) => profile_username !== '',
    // All visitors share one password, so invented user names must not allow more guesses.
    attemptName: () => '',
    verify: (profile, credentials, { countAttempt }) => countAttempt(() => verifyProfilePassword(ports, profile, credentials)),
  },
  reauthenticate: async (profile, signIn) => ({ ...signIn, identity: identityOf(profile) }),
});
