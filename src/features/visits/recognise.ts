import { createHmac } from 'node:crypto';
import { asksSignIn, profileTypes } from '#core/records/login-profile.ts';
import type { LinkRow, SignedIn } from '#features/link-facts.ts';
import type { Ports } from '#ports/ports.ts';
import { type PasswordPair, signInByPassword } from './password-sign-in.ts';
import { findSession, noteSessionUse } from './visit-session.ts';
import { identityOf, type ProfileRef, userIdentity } from './visitor-identity.ts';

/** What a request carries to be recognised by. */
export interface Credentials {
  /** The session token of a login profile's cookie. */
  readonly session: (profileId: number) => string | null;
  /** `Authorization: Basic`. */
  readonly basic: PasswordPair | null;
}

/** A visitor who has signed in, and how to ask whether they still are. */
export interface Recognised {
  readonly signedIn: SignedIn;
  /** Names the sign-in, so that requests of one visitor are told as one. */
  readonly again: (profile: ProfileRef) => Promise<SignedIn | null>;
}

interface RememberedPair {
  readonly userId: number | null;
  readonly profileEpoch: number;
  readonly userEpoch: number | null;
  readonly until: number;
}

const rememberedFor = 300_000; // ms; argon2 costs too much to be asked for each of a thousand requests
const mostRemembered = 10_000;

/** Pairs of user and password that were right a short while ago, known by an HMAC under a key of the process. */
export interface RightPairs {
  keyOf(profileId: number, pair: PasswordPair): string;
  find(key: string, now: number): RememberedPair | null;
  remember(key: string, pair: RememberedPair): void;
  /** Runs one verification for all who ask the same at the same time. */
  shared<T>(key: string, verify: () => Promise<T>): Promise<T>;
}

/** @param processKey a secret that lives as long as the process */
export function rightPairs(processKey: string): RightPairs {
  const pairs = new Map<string, RememberedPair>();
  const running = new Map<string, Promise<unknown>>();
  return {
    keyOf: (profileId, { username, password }) =>
      createHmac('sha256', processKey)
        .update(JSON.stringify([profileId, username, password]))
        .digest('base64url'),
    find(key, now) {
      const pair = pairs.get(key);
      if (pair && pair.until > now) return pair;
      pairs.delete(key);
      return null;
    },
    remember(key, pair) {
      const [oldest] = pairs.keys();
      if (pairs.size >= mostRemembered && oldest !== undefined) pairs.delete(oldest);
      pairs.set(key, pair);
    },
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

/** The pair as remembered, if the profile and the user are still those that it was right for. */
async function remembered(ports: Ports, pairs: RightPairs, key: string, profile: ProfileRef): Promise<SignedIn | null> {
  const pair = pairs.find(key, ports.clock.now());
  if (!pair || pair.profileEpoch !== profile.session_epoch) return null;
  if (pair.userId === null) return identityOf(profile);
  return userIdentity(ports.store.read, profile, pair.userId, pair.userEpoch ?? 0);
}

async function byBasic(ports: Ports, pairs: RightPairs, profile: ProfileRef, pair: PasswordPair, address: string): Promise<Recognised> {
  const key = pairs.keyOf(profile.profile_id, pair);
  const again = (now: ProfileRef) => remembered(ports, pairs, key, now);
  const known = await again(profile);
  if (known) return { signedIn: known, again };
  const { signedIn, userEpoch } = await pairs.shared(key, () => signInByPassword(ports, profile, pair, address));
  pairs.remember(key, {
    userId: signedIn.userId,
    userEpoch,
    profileEpoch: profile.session_epoch,
    until: ports.clock.now() + rememberedFor,
  });
  // A transfer may outlive the memory of the pair: what counts then is that user and profile are unchanged.
  const epoch = profile.session_epoch;
  const unchanged = async (now: ProfileRef) => {
    if (now.session_epoch !== epoch) return null;
    return signedIn.userId === null ? identityOf(now) : userIdentity(ports.store.read, now, signedIn.userId, userEpoch ?? 0);
  };
  return { signedIn, again: unchanged };
}

async function bySession(ports: Ports, profile: ProfileRef, token: string): Promise<Recognised | null> {
  const found = await findSession(ports.store, profile, token, ports.clock.now());
  if (!found) return null;
  noteSessionUse(ports.store, found, ports.clock.now());
  const again = async (now: ProfileRef) => (await findSession(ports.store, now, token, ports.clock.now()))?.signedIn ?? null;
  return { signedIn: found.signedIn, again };
}

/**
 * Who asks, by a living session, else by `Authorization: Basic`; null: nobody in particular.
 * @throws 401 for a wrong pair, 429, 503
 */
export async function recognise(
  ports: Ports,
  pairs: RightPairs,
  profile: LinkRow | ProfileRef,
  approaching: { credentials: Credentials; address: string },
): Promise<Recognised | null> {
  if (!asksSignIn(profile.type_id)) return null;
  const { session, basic } = approaching.credentials;
  const token = session(profile.profile_id);
  const bySessionToken = token === null ? null : await bySession(ports, profile, token);
  const takesPasswords = profile.type_id === profileTypes.PASSWORD || profile.type_id === profileTypes.USERS;
  if (bySessionToken || !basic || !takesPasswords) return bySessionToken;
  return byBasic(ports, pairs, profile, basic, approaching.address);
}
