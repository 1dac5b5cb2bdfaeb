import { createHash, timingSafeEqual } from 'node:crypto';
import { fold } from '#core/fold.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import { checkDelay, networkKeys, pairKey, verifyAttempt } from '#features/rate-limits/failed-attempts.ts';
import type { VerifyPassword } from '#ports/password-hash.ts';
import type { Ports } from '#ports/ports.ts';
import { type ProfileRef, profileIdentity, userIdentity } from './visitor-identity.ts';

/** The user name and password of a visitor. */
export interface PasswordCredentials {
  readonly username: string;
  readonly password: string;
}

/** A visitor whose password is correct, and the epochs of the profile and the user when it was verified. */
interface PasswordMatch {
  readonly signedIn: SignedInVisitor;
  readonly profileEpoch: number;
  readonly userEpoch: number | null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** Verifies the password of a PASSWORD profile. If the profile has no user name, any name is accepted. */
async function verifyProfilePassword(ports: Ports, profile: ProfileRef, pair: PasswordCredentials): Promise<PasswordMatch | null> {
  const row = await ports.store.read
    .selectFrom('login_profile')
    .select(['password', 'session_epoch'])
    .where('tid', '=', profile.tid)
    .where('id', '=', profile.profile_id)
    .executeTakeFirstOrThrow();
  // A profile whose password was lost with the secret key stores an empty one: no password must match it, not even an empty one.
  if (row.password === '') return null;
  const password = ports.vault.open('login profile password', row.password);
  const nameMatches = profile.profile_username === '' || equal(fold(profile.profile_username), fold(pair.username));
  const matches = equal(password, pair.password) && nameMatches;
  return matches ? { signedIn: profileIdentity(profile), profileEpoch: row.session_epoch, userEpoch: null } : null;
}

/**
 * Verifies the password of an access user. An unknown user, a wrong password and an inactive user take the same time and get the
 * same response.
 */
async function verifyUserPassword(
  ports: Ports,
  profile: ProfileRef,
  pair: PasswordCredentials,
  verify: VerifyPassword,
): Promise<PasswordMatch | null> {
  const user = await ports.store.read
    .selectFrom('access_user')
    .select(['id', 'password_hash', 'session_epoch', 'active'])
    .where('tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('username_key', '=', fold(pair.username))
    .executeTakeFirst();
  const matches = await verify(user?.password_hash ?? null, pair.password);
  if (!user || !matches) return null;
  // Reads the user again: hashing is slow, and the user may have been deactivated meanwhile.
  const signedIn = await userIdentity(ports.store.read, profile, user.id, user.session_epoch);
  return signedIn ? { signedIn, profileEpoch: profile.session_epoch, userEpoch: user.session_epoch } : null;
}

/**
 * Verifies one sign-in attempt with a password, and counts it if it fails.
 * @throws Refusal (401), the same for an unknown user, a wrong password and an inactive user; (429) during the wait after failed
 *   attempts; (503) if too many requests wait
 */
export async function signInByPassword(
  ports: Ports,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<PasswordMatch> {
  // All users of a PASSWORD profile share one password, so invented user names must not allow more guesses.
  const name = profile.type_id === profileTypes.PASSWORD ? '' : fold(pair.username);
  const attemptKey = pairKey(String(profile.profile_id), name, address);
  const networks = networkKeys('signIn', address);
  await checkDelay(ports.store.read, [attemptKey, ...networks], ports.clock.now()); // first, so that attempts during the wait write nothing
  if (profile.type_id === profileTypes.PASSWORD)
    return verifyAttempt(ports, attemptKey, networks, () => verifyProfilePassword(ports, profile, pair));
  return ports.passwordHash.runInTurn(address, (verify) =>
    verifyAttempt(ports, attemptKey, networks, () => verifyUserPassword(ports, profile, pair, verify)),
  );
}
