import { createHash, timingSafeEqual } from 'node:crypto';
import { fold } from '#core/fold.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import { checkWait, networkKeys, pairKey, verifyCounted } from '#features/rate-limits/failed-attempts.ts';
import type { VerifyPassword } from '#ports/password-hash.ts';
import type { Ports } from '#ports/ports.ts';
import { type ProfileRef, profileIdentity, userIdentity } from './visitor-identity.ts';

/** What a visitor signs in with. */
export interface PasswordCredentials {
  readonly username: string;
  readonly password: string;
}

/** A right pair, and the state of the profile and the user that it was right for. */
interface PasswordMatch {
  readonly signedIn: SignedInVisitor;
  readonly profileEpoch: number;
  readonly userEpoch: number | null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** The one password of a profile; without a user name of its own any name will do. */
async function verifyProfile(ports: Ports, profile: ProfileRef, pair: PasswordCredentials): Promise<PasswordMatch | null> {
  const row = await ports.store.read
    .selectFrom('login_profile')
    .select(['password', 'session_epoch'])
    .where('tid', '=', profile.tid)
    .where('id', '=', profile.profile_id)
    .executeTakeFirstOrThrow();
  // A password that was forgotten with the key is nobody's, the empty one included.
  if (row.password === '') return null;
  const password = ports.vault.open('login profile password', row.password);
  const named = profile.profile_username === '' || equal(fold(profile.profile_username), fold(pair.username));
  const right = equal(password, pair.password) && named;
  return right ? { signedIn: profileIdentity(profile), profileEpoch: row.session_epoch, userEpoch: null } : null;
}

/** Unknown, wrong and inactive take as long and answer alike. */
async function verifyUser(
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
  const right = await verify(user?.password_hash ?? null, pair.password);
  if (!user || !right) return null;
  // Asked anew: the hash took its time, and the user may have been stopped meanwhile.
  const signedIn = await userIdentity(ports.store.read, profile, user.id, user.session_epoch);
  return signedIn ? { signedIn, profileEpoch: profile.session_epoch, userEpoch: user.session_epoch } : null;
}

/**
 * Looks at one attempt to sign in by a password, and counts it.
 * @throws 401, the same for an unknown, wrong or inactive user; 429 within the wait; 503 where too many wait
 */
export async function signInByPassword(
  ports: Ports,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<PasswordMatch> {
  // One password for all: an invented user name gives no further guesses.
  const name = profile.type_id === profileTypes.PASSWORD ? '' : fold(pair.username);
  const user = pairKey(String(profile.profile_id), name, address);
  const networks = networkKeys('signIn', address);
  await checkWait(ports.store.read, [user, ...networks], ports.clock.now()); // those that have to wait write nothing
  if (profile.type_id === profileTypes.PASSWORD) return verifyCounted(ports, user, networks, () => verifyProfile(ports, profile, pair));
  return ports.passwordHash.inTurn(address, (verify) =>
    verifyCounted(ports, user, networks, () => verifyUser(ports, profile, pair, verify)),
  );
}
