import { createHmac } from 'node:crypto';
import { setAndEvict } from '#core/newest.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { profileTypes, requiresSignIn } from '#core/records/login-profile.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import type { Ports } from '#ports/ports.ts';
import { type PasswordCredentials, signInByPassword } from './password-sign-in.ts';
import { findSession, recordSessionUse, useRecordInterval, type VisitSession } from './visit-session.ts';
import { type ProfileRef, profileIdentity, userIdentity } from './visitor-identity.ts';

/** The credentials of a visitor's request. */
export interface Credentials {
  /** Returns the session token from the cookie of a login profile. */
  readonly session: (profileId: number) => string | null;
  /** `Authorization: Basic`. */
  readonly basic: PasswordCredentials | null;
}

/** A visitor who has signed in. */
export interface AuthenticatedVisitor {
  readonly signedIn: SignedInVisitor;
  /** Checks the sign-in again with the current profile. Returns null if it is no longer valid. */
  readonly reauthenticate: (profile: ProfileRef) => Promise<SignedInVisitor | null>;
  /** True if a password was verified for this request. That is slow, so data that was read before may be out of date. */
  readonly passwordVerified: boolean;
}

interface VerifiedPassword {
  readonly userId: number | null;
  readonly profileId: number;
  readonly profileEpoch: number;
  readonly userEpoch: number | null;
  readonly until: number;
}

const cacheTime = 300_000; // ms; argon2 is too expensive to run for each of a thousand requests
const maxCached = 20_000; // entries, two for each pair of user name and password

/** Caches which pairs of user name and password were verified a short time ago. The keys are HMACs with a secret of the process. */
export interface VerifiedPasswords {
  /**
   * Returns the cache key of a pair.
   * @param profile the key depends on the profile's epoch, so that a change of the profile invalidates the pair. null: the key for
   *   the last profile for which the pair was verified
   * @param address the key depends on its network, so that other networks cannot use the cache to guess passwords without a limit
   */
  keyOf(profile: Pick<ProfileRef, 'profile_id' | 'session_epoch'> | null, pair: PasswordCredentials, address: string): string;
  find(key: string, now: number): VerifiedPassword | null;
  cache(key: string, pair: VerifiedPassword): void;
  /** Runs one verification for all concurrent requests with the same key. */
  verifyOnce<T>(key: string, verify: () => Promise<T>): Promise<T>;
}

/** @param processKey a secret that lives as long as the process */
export function verifiedPasswords(processKey: string): VerifiedPasswords {
  const cached = new Map<string, VerifiedPassword>();
  const running = new Map<string, Promise<unknown>>();
  return {
    keyOf: (profile, { username, password }, address) =>
      createHmac('sha256', processKey)
        .update(JSON.stringify([profile?.profile_id, profile?.session_epoch, username, password, networkOf(address, 32, 64)]))
        .digest('base64url'),
    find(key, now) {
      const pair = cached.get(key);
      if (pair && pair.until > now) return pair;
      cached.delete(key);
      return null;
    },
    cache: (key, pair) => setAndEvict(cached, key, pair, maxCached),
    async verifyOnce<T>(key: string, verify: () => Promise<T>): Promise<T> {
      const existing = running.get(key);
      // The cast is safe: all verifications with the same key return the same type.
      if (existing) return existing as Promise<T>;
      const verification = verify().finally(() => running.delete(key));
      running.set(key, verification);
      return verification;
    },
  };
}

/**
 * Returns the visitor of a verified pair, or null if the profile or the user has changed since. Does not check `until`: a transfer
 * may run longer than the cache time, and its pair stays valid until something changes.
 */
async function identityIfUnchanged(
  { store }: Pick<Ports, 'store'>,
  { userId, userEpoch, profileId, profileEpoch }: Omit<VerifiedPassword, 'until'>,
  profile: ProfileRef,
): Promise<SignedInVisitor | null> {
  if (profileId !== profile.profile_id || profileEpoch !== profile.session_epoch) return null;
  return userId === null ? profileIdentity(profile) : userIdentity(store.read, profile, userId, userEpoch ?? 0);
}

/** Authenticates by a pair of user name and password that was verified a short time ago. Returns null for any other pair. */
async function byVerifiedPassword(
  ports: Ports,
  verifiedPairs: VerifiedPasswords,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<AuthenticatedVisitor | null> {
  const cached = verifiedPairs.find(verifiedPairs.keyOf(profile, pair, address), ports.clock.now());
  const signedIn = cached && (await identityIfUnchanged(ports, cached, profile));
  return signedIn && { signedIn, reauthenticate: (current) => identityIfUnchanged(ports, cached, current), passwordVerified: false };
}

async function byBasic(
  ports: Ports,
  verifiedPairs: VerifiedPasswords,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<AuthenticatedVisitor> {
  const visitor = await byVerifiedPassword(ports, verifiedPairs, profile, pair, address);
  if (visitor) return visitor;
  const key = verifiedPairs.keyOf(profile, pair, address);
  const { signedIn, profileEpoch, userEpoch } = await verifiedPairs.verifyOnce(key, () => signInByPassword(ports, profile, pair, address));
  const { profile_id: profileId } = profile;
  const verifiedPair = { userId: signedIn.userId, userEpoch, profileId, profileEpoch, until: ports.clock.now() + cacheTime };
  for (const cacheKey of [key, verifiedPairs.keyOf(null, pair, address)]) verifiedPairs.cache(cacheKey, verifiedPair);
  return { signedIn, reauthenticate: (current) => identityIfUnchanged(ports, verifiedPair, current), passwordVerified: true };
}

async function bySession(ports: Ports, profile: ProfileRef, token: string, address: string): Promise<AuthenticatedVisitor | null> {
  const session = await findSession(ports.store, profile, token, ports.clock.now());
  if (!session) return null;
  let recordedAt = Number.NEGATIVE_INFINITY;
  function recordUse(usedSession: VisitSession): void {
    const now = ports.clock.now();
    if (now - recordedAt < useRecordInterval) return;
    recordedAt = now;
    recordSessionUse(ports.store, usedSession, address, now);
  }
  recordUse(session);
  // Also records the use, so that the session of a transfer that takes hours does not expire as unused.
  const reauthenticate = async (currentProfile: ProfileRef) => {
    const currentSession = await findSession(ports.store, currentProfile, token, ports.clock.now());
    if (currentSession) recordUse(currentSession);
    return currentSession?.signedIn ?? null;
  };
  return { signedIn: session.signedIn, reauthenticate, passwordVerified: false };
}

interface AuthenticationRequest {
  readonly credentials: Credentials;
  readonly address: string;
}

/** Authenticates by a valid session, else with `byPair` by the user name and password of the request. */
async function authenticateBy(
  ports: Ports,
  profile: LinkRow | ProfileRef,
  { credentials, address }: AuthenticationRequest,
  byPair: (pair: PasswordCredentials) => Promise<AuthenticatedVisitor | null>,
): Promise<AuthenticatedVisitor | null> {
  if (!requiresSignIn(profile.type_id)) return null;
  const token = credentials.session(profile.profile_id);
  const visitor = token === null ? null : await bySession(ports, profile, token, address);
  const acceptsPasswords = profile.type_id === profileTypes.PASSWORD || profile.type_id === profileTypes.USERS;
  return visitor || !credentials.basic || !acceptsPasswords ? visitor : byPair(credentials.basic);
}

/**
 * Authenticates a visitor by a valid session, else by `Authorization: Basic`. Returns null for an anonymous visitor.
 * @throws Refusal (401) for a wrong user name or password; (429, 503)
 */
export const authenticateVisitor = (
  ports: Ports,
  verifiedPairs: VerifiedPasswords,
  profile: LinkRow | ProfileRef,
  request: AuthenticationRequest,
) => authenticateBy(ports, profile, request, (pair) => byBasic(ports, verifiedPairs, profile, pair, request.address));

/** Authenticates a visitor as `authenticateVisitor` does, but accepts a password only if it was verified a short time ago. */
export const authenticateWithoutVerifying = (
  ports: Ports,
  verifiedPairs: VerifiedPasswords,
  profile: LinkRow | ProfileRef,
  request: AuthenticationRequest,
) => authenticateBy(ports, profile, request, (pair) => byVerifiedPassword(ports, verifiedPairs, profile, pair, request.address));
