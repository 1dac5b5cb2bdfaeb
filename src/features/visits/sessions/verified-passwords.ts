import { createHmac } from 'node:crypto';
import { setAndEvict } from '#core/bounded-map.ts';
import { narrowNetworkOf } from '#core/client-networks.ts';
import type { PasswordCredentials, ProfileRef } from '#ports/sign-in.ts';
import type { SignInAtProfile } from './visitor-identity.ts';

interface VerifiedPassword extends SignInAtProfile {
  readonly until: number;
}

const maxCached = 20_000; // entries, two for each pair of user name and password

/** Caches which pairs of user name and password were verified a short time ago. The keys are HMACs with a secret of the process. */
export interface VerifiedPasswords {
  /**
   * Returns the cache key of a pair.
   * @param profile the key depends on the profile's session epoch, so that a change that ends its sessions invalidates the pair. null: the
   *   key for the last profile for which the pair was verified
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
  const pairs = new Map<string, VerifiedPassword>();
  const running = new Map<string, Promise<unknown>>();
  return {
    keyOf: (profile, { username, password }, address) =>
      createHmac('sha256', processKey)
        .update(JSON.stringify([profile?.profile_id, profile?.session_epoch, username, password, narrowNetworkOf(address)]))
        .digest('base64url'),
    find(key, now) {
      const pair = pairs.get(key);
      if (pair && pair.until > now) return pair;
      pairs.delete(key);
      return null;
    },
    cache: (key, pair) => setAndEvict(pairs, key, pair, maxCached),
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
