import { createHmac } from 'node:crypto';
import { setNewest } from '#core/newest.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { asksSignIn, profileTypes } from '#core/records/login-profile.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import type { Ports } from '#ports/ports.ts';
import { type PasswordCredentials, signInByPassword } from './password-sign-in.ts';
import { findSession, recordSessionUse, useRecordedEvery, type VisitSession } from './visit-session.ts';
import { type ProfileRef, profileIdentity, userIdentity } from './visitor-identity.ts';

/** What a request carries to be recognised by. */
export interface Credentials {
  /** The session token of a login profile's cookie. */
  readonly session: (profileId: number) => string | null;
  /** `Authorization: Basic`. */
  readonly basic: PasswordCredentials | null;
}

/** A visitor who has signed in, and how to ask whether they still are. */
export interface AuthenticatedVisitor {
  readonly signedIn: SignedInVisitor;
  /** Names the sign-in, so that requests of one visitor are told as one. */
  readonly reauthenticate: (profile: ProfileRef) => Promise<SignedInVisitor | null>;
  /** A password was verified, which takes a while: what was read before may be old. */
  readonly verified: boolean;
}

interface VerifiedPassword {
  readonly userId: number | null;
  readonly profileId: number;
  readonly profileEpoch: number;
  readonly userEpoch: number | null;
  readonly until: number;
}

const rememberedFor = 300_000; // ms; argon2 costs too much to be asked for each of a thousand requests
const mostRemembered = 20_000; // two for each pair

/** Pairs of user and password that were right a short while ago, known by an HMAC under a key of the process. */
export interface VerifiedPasswords {
  /**
   * @param profile a pair is right for the profile as it is: one that was verified before a change is another pair.
   *   null: whichever profile it was right for last
   * @param address a pair is known to the network that it came from: another one may not guess at it without a limit
   */
  keyOf(profile: Pick<ProfileRef, 'profile_id' | 'session_epoch'> | null, pair: PasswordCredentials, address: string): string;
  find(key: string, now: number): VerifiedPassword | null;
  remember(key: string, pair: VerifiedPassword): void;
  /** Runs one verification for all who ask the same at the same time. */
  shared<T>(key: string, verify: () => Promise<T>): Promise<T>;
}

/** @param processKey a secret that lives as long as the process */
export function verifiedPasswords(processKey: string): VerifiedPasswords {
  const pairs = new Map<string, VerifiedPassword>();
  const running = new Map<string, Promise<unknown>>();
  return {
    keyOf: (profile, { username, password }, address) =>
      createHmac('sha256', processKey)
        .update(JSON.stringify([profile?.profile_id, profile?.session_epoch, username, password, networkOf(address, 32, 64)]))
        .digest('base64url'),
    find(key, now) {
      const pair = pairs.get(key);
      if (pair && pair.until > now) return pair;
      pairs.delete(key);
      return null;
    },
    remember: (key, pair) => setNewest(pairs, key, pair, mostRemembered),
    async shared<T>(key: string, verify: () => Promise<T>): Promise<T> {
      const under = running.get(key);
      // Keyed alike, the running verification answers the same question.
      if (under) return under as Promise<T>;
      const begun = verify().finally(() => running.delete(key));
      running.set(key, begun);
      return begun;
    },
  };
}

/**
 * Who a pair stood for, if the profile and the user are still those that it was right for. A transfer may outlive the
 * memory of its pair: what admitted it holds until something changes.
 */
async function identityIfUnchanged(
  { store }: Pick<Ports, 'store'>,
  { userId, userEpoch, profileId, profileEpoch }: Omit<VerifiedPassword, 'until'>,
  profile: ProfileRef,
): Promise<SignedInVisitor | null> {
  if (profileId !== profile.profile_id || profileEpoch !== profile.session_epoch) return null;
  return userId === null ? profileIdentity(profile) : userIdentity(store.read, profile, userId, userEpoch ?? 0);
}

/** Who a pair stands for that was right a short while ago. */
async function byVerifiedPassword(
  ports: Ports,
  pairs: VerifiedPasswords,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<AuthenticatedVisitor | null> {
  const remembered = pairs.find(pairs.keyOf(profile, pair, address), ports.clock.now());
  const known = remembered && (await identityIfUnchanged(ports, remembered, profile));
  return known && { signedIn: known, reauthenticate: (now) => identityIfUnchanged(ports, remembered, now), verified: false };
}

async function byBasic(
  ports: Ports,
  pairs: VerifiedPasswords,
  profile: ProfileRef,
  pair: PasswordCredentials,
  address: string,
): Promise<AuthenticatedVisitor> {
  const known = await byVerifiedPassword(ports, pairs, profile, pair, address);
  if (known) return known;
  const key = pairs.keyOf(profile, pair, address);
  const { signedIn, profileEpoch, userEpoch } = await pairs.shared(key, () => signInByPassword(ports, profile, pair, address));
  const { profile_id: profileId } = profile;
  const right = { userId: signedIn.userId, userEpoch, profileId, profileEpoch, until: ports.clock.now() + rememberedFor };
  for (const known of [key, pairs.keyOf(null, pair, address)]) pairs.remember(known, right);
  return { signedIn, reauthenticate: (now) => identityIfUnchanged(ports, right, now), verified: true };
}

async function bySession(ports: Ports, profile: ProfileRef, token: string, address: string): Promise<AuthenticatedVisitor | null> {
  const found = await findSession(ports.store, profile, token, ports.clock.now());
  if (!found) return null;
  let notedAt = Number.NEGATIVE_INFINITY;
  function note(session: VisitSession): void {
    const now = ports.clock.now();
    if (now - notedAt < useRecordedEvery) return;
    notedAt = now;
    recordSessionUse(ports.store, session, address, now);
  }
  note(found);
  // A transfer of hours uses its session all the time.
  const again = async (now: ProfileRef) => {
    const living = await findSession(ports.store, now, token, ports.clock.now());
    if (living) note(living);
    return living?.signedIn ?? null;
  };
  return { signedIn: found.signedIn, reauthenticate: again, verified: false };
}

interface AuthenticationRequest {
  readonly credentials: Credentials;
  readonly address: string;
}

/** Recognises by a living session, else by the pair that came with the request, as `byPair` does. */
async function authenticateBy(
  ports: Ports,
  profile: LinkRow | ProfileRef,
  { credentials: { session, basic }, address }: AuthenticationRequest,
  byPair: (pair: PasswordCredentials) => Promise<AuthenticatedVisitor | null>,
): Promise<AuthenticatedVisitor | null> {
  if (!asksSignIn(profile.type_id)) return null;
  const token = session(profile.profile_id);
  const bySessionToken = token === null ? null : await bySession(ports, profile, token, address);
  const takesPasswords = profile.type_id === profileTypes.PASSWORD || profile.type_id === profileTypes.USERS;
  return bySessionToken || !basic || !takesPasswords ? bySessionToken : byPair(basic);
}

/**
 * Who asks, by a living session, else by `Authorization: Basic`; null: nobody in particular.
 * @throws 401 for a wrong pair, 429, 503
 */
export const authenticateVisitor = (ports: Ports, pairs: VerifiedPasswords, profile: LinkRow | ProfileRef, asking: AuthenticationRequest) =>
  authenticateBy(ports, profile, asking, (pair) => byBasic(ports, pairs, profile, pair, asking.address));

/** The same, where nothing is to be verified: a pair counts that was right a short while ago. */
export const authenticateWithoutVerifying = (
  ports: Ports,
  pairs: VerifiedPasswords,
  profile: LinkRow | ProfileRef,
  asking: AuthenticationRequest,
) => authenticateBy(ports, profile, asking, (pair) => byVerifiedPassword(ports, pairs, profile, pair, asking.address));
