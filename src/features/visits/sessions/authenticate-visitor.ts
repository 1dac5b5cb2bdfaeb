import { requiresSignIn } from '#core/records/login-profile.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import type { PasswordCredentials, PasswordSignIn, ProfileRef } from '#ports/sign-in.ts';
import { findSignInKind } from './find-sign-in-kind.ts';
import { signInByPassword } from './password-sign-in.ts';
import { passwordTransferCheck } from './password-transfer-check.ts';
import type { VerifiedPasswords } from './verified-passwords.ts';
import { findSession, lastUseUpdateInterval, recordSessionUse, type SessionPorts, type VisitSession } from './visit-session.ts';
import { checkSignIn, signedInVisitor } from './visitor-identity.ts';

const cacheTime = 300_000; // ms; verifying a password, with argon2 or at a directory, is too expensive for every request

export interface Credentials {
  /** Returns the session token from the cookie of a login profile. */
  readonly session: (profileId: number) => string | null;
  /** `Authorization: Basic`. */
  readonly basic: PasswordCredentials | null;
}

export interface AuthenticatedVisitor {
  readonly signedIn: SignedInVisitor;
  /** Checks the sign-in again with the current profile. Returns null if it is no longer valid. @throws as `checkRenewalGrace` */
  readonly reauthenticate: (profile: ProfileRef) => Promise<SignedInVisitor | null>;
  /** True if a password was verified for this request. That is slow, so data that was read before may be out of date. */
  readonly passwordVerified: boolean;
}

/**
 * Authenticates by a pair of user name and password that was verified a short time ago. Returns null for any other
 * pair, or if the sign-in is no longer valid.
 */
async function byVerifiedPassword(
  ports: SessionPorts,
  verifiedPairs: VerifiedPasswords,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<AuthenticatedVisitor | null> {
  const cachedPair = verifiedPairs.find(verifiedPairs.keyOf(profile, pair, address), ports.clock.now());
  const signedIn = cachedPair && (await checkSignIn(ports.signInKinds, profile, cachedPair));
  if (!signedIn) return null;
  // A transfer may run longer than the cache time, so `reauthenticate` does not search the cache again. It still sees that the sign-in has
  // ended.
  return { signedIn, reauthenticate: passwordTransferCheck(ports, cachedPair), passwordVerified: false };
}

/** @param kind the way in which the profile verifies passwords */
async function byBasic(
  ports: SessionPorts,
  verifiedPairs: VerifiedPasswords,
  profile: ProfileRef,
  kind: PasswordSignIn,
  { pair, address }: { readonly pair: PasswordCredentials; readonly address: string },
): Promise<AuthenticatedVisitor> {
  const visitor = await byVerifiedPassword(ports, verifiedPairs, profile, pair, address);
  if (visitor) return visitor;
  const key = verifiedPairs.keyOf(profile, pair, address);
  const signIn = await verifiedPairs.verifyOnce(key, () => signInByPassword(ports, profile, kind, pair, address));
  const verifiedPair = { profileId: profile.profile_id, signIn, until: ports.clock.now() + cacheTime };
  for (const cacheKey of [key, verifiedPairs.keyOf(null, pair, address)]) verifiedPairs.cache(cacheKey, verifiedPair);
  return { signedIn: signedInVisitor(profile, signIn), reauthenticate: passwordTransferCheck(ports, verifiedPair), passwordVerified: true };
}

async function bySession(ports: SessionPorts, profile: ProfileRef, token: string, address: string): Promise<AuthenticatedVisitor | null> {
  const session = await findSession(ports, profile, token, { address, isTransferCheck: false });
  if (!session) return null;
  let recordedAt = Number.NEGATIVE_INFINITY;
  function recordUse(usedSession: VisitSession): void {
    const now = ports.clock.now();
    if (now - recordedAt < lastUseUpdateInterval) return;
    recordedAt = now;
    recordSessionUse(ports.store, usedSession, address, now);
  }
  recordUse(session);
  // Also records the use, so that the session of a transfer that takes hours does not expire as unused.
  const reauthenticate = async (currentProfile: ProfileRef) => {
    const currentSession = await findSession(ports, currentProfile, token, { address, isTransferCheck: true });
    if (currentSession) recordUse(currentSession);
    return currentSession?.signedIn ?? null;
  };
  return { signedIn: session.signedIn, reauthenticate, passwordVerified: false };
}

interface AuthenticationRequest {
  readonly credentials: Credentials;
  readonly address: string;
}

/** Authenticates by a valid session; without one, calls `byPair` with the user name and password of the request. */
async function authenticateBy(
  ports: SessionPorts,
  profile: LinkRow | ProfileRef,
  { credentials, address }: AuthenticationRequest,
  byPair: (kind: PasswordSignIn, pair: PasswordCredentials) => Promise<AuthenticatedVisitor | null>,
): Promise<AuthenticatedVisitor | null> {
  if (!requiresSignIn(profile.type_id)) return null;
  const token = credentials.session(profile.profile_id);
  const visitor = token === null ? null : await bySession(ports, profile, token, address);
  if (visitor || !credentials.basic) return visitor;
  const kind = findSignInKind(ports.signInKinds, profile)?.password;
  return kind ? byPair(kind, credentials.basic) : null;
}

/**
 * Authenticates a visitor by a valid session, else by `Authorization: Basic`. Returns null for an anonymous visitor.
 * @throws Refusal as `findSession` and `signInByPassword`
 */
export const authenticateVisitor = (
  ports: SessionPorts,
  verifiedPairs: VerifiedPasswords,
  profile: LinkRow | ProfileRef,
  request: AuthenticationRequest,
) =>
  authenticateBy(ports, profile, request, (kind, pair) => byBasic(ports, verifiedPairs, profile, kind, { pair, address: request.address }));

/** Authenticates a visitor as `authenticateVisitor` does, but accepts a password only if it was verified a short time ago. */
export const authenticateWithoutVerifying = (
  ports: SessionPorts,
  verifiedPairs: VerifiedPasswords,
  profile: LinkRow | ProfileRef,
  request: AuthenticationRequest,
) => authenticateBy(ports, profile, request, (_kind, pair) => byVerifiedPassword(ports, verifiedPairs, profile, pair, request.address));
