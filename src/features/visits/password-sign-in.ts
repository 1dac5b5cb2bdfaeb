import { createHash, timingSafeEqual } from 'node:crypto';
import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import { checkWait, clearFailures, networkKeys, noteFailure, pairKey } from '#features/failures.ts';
import type { SignedIn } from '#features/link-facts.ts';
import type { Ports } from '#ports/ports.ts';
import { identityOf, type ProfileRef, userIdentity } from './visitor-identity.ts';

/** What a visitor signs in with. */
export interface PasswordPair {
  readonly username: string;
  readonly password: string;
}

/** A right pair, and the state of the user that it was right for. */
interface RightPair {
  readonly signedIn: SignedIn;
  readonly userEpoch: number | null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** The one password of a profile; without a user name of its own any name will do. */
async function verifyProfile(ports: Ports, profile: ProfileRef, pair: PasswordPair): Promise<RightPair | null> {
  const row = await ports.store.read
    .selectFrom('login_profile')
    .select('password')
    .where('tid', '=', profile.tid)
    .where('id', '=', profile.profile_id)
    .executeTakeFirstOrThrow();
  const password = ports.vault.open('login profile password', row.password);
  const named = profile.profile_username === '' || equal(fold(profile.profile_username), fold(pair.username));
  const right = equal(password, pair.password) && named;
  return right ? { signedIn: identityOf(profile), userEpoch: null } : null;
}

/** Unknown, wrong and inactive take as long and answer alike. */
async function verifyUser(ports: Ports, profile: ProfileRef, pair: PasswordPair): Promise<RightPair | null> {
  const user = await ports.store.read
    .selectFrom('access_user')
    .select(['id', 'password_hash', 'session_epoch', 'active'])
    .where('tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('username_key', '=', fold(pair.username))
    .executeTakeFirst();
  const right = await ports.passwordHash.verify(user?.password_hash ?? null, pair.password);
  if (!user || !right) return null;
  // Asked anew: the hash took its time, and the user may have been stopped meanwhile.
  const signedIn = await userIdentity(ports.store.read, profile, user.id, user.session_epoch);
  return signedIn ? { signedIn, userEpoch: user.session_epoch } : null;
}

/**
 * Looks at one attempt to sign in by a password, and counts it.
 * @throws 401, the same for an unknown, wrong or inactive user; 429 within the wait; 503 where too many wait
 */
export async function signInByPassword(ports: Ports, profile: ProfileRef, pair: PasswordPair, address: string): Promise<RightPair> {
  const { store, clock } = ports;
  const user = pairKey(profile.profile_id, fold(pair.username), address);
  const networks = networkKeys('signIn', address);
  // The pair's failure is counted before the password is looked at, and taken back if it was right: a hundred attempts
  // at once are a hundred attempts.
  await store.write(async (tx) => {
    await checkWait(tx, [user, ...networks], clock.now());
    await noteFailure(tx, [user], clock.now());
  });
  const verify = profile.type_id === profileTypes.PASSWORD ? verifyProfile : verifyUser;
  const right = await verify(ports, profile, pair).catch(async (cause: unknown) => {
    if (cause instanceof Refusal) await store.write((tx) => clearLatest(tx, user.key)); // it was not looked at
    throw cause;
  });
  await store.write((tx) => (right ? clearFailures(tx, user) : noteFailure(tx, networks, clock.now())));
  if (!right) throw new Refusal('signInWrong');
  return right;
}

async function clearLatest(tx: Ports['store']['read'], key: string): Promise<void> {
  const latest = await tx.selectFrom('failure').select('id').where('key', '=', key).orderBy('id', 'desc').executeTakeFirst();
  if (latest) await tx.deleteFrom('failure').where('id', '=', latest.id).execute();
}
