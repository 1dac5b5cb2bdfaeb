import { checkDelay, networkKeys, pairKey, verifyAttempt } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, PasswordCredentials, PasswordSignIn, ProfileRef } from '#ports/sign-in.ts';

/**
 * Verifies one sign-in attempt with a password, and counts it if it fails.
 * @param kind the way in which the profile verifies passwords
 * @throws Refusal (401), the same for an unknown user, a wrong password and an inactive user; (429) during the wait after failed
 *   attempts; (503) if too many requests wait
 */
export async function signInByPassword(
  ports: Pick<Ports, 'store' | 'clock'>,
  profile: ProfileRef,
  kind: PasswordSignIn,
  credentials: PasswordCredentials,
  address: string,
): Promise<CompletedSignIn> {
  const attemptKey = pairKey(String(profile.profile_id), kind.attemptName(credentials.username), address);
  const networks = networkKeys('signIn', address);
  await checkDelay(ports.store.read, [attemptKey, ...networks], ports.clock.now()); // first, so that attempts during the wait write nothing
  return kind.verify(profile, credentials, { address, countAttempt: (verify) => verifyAttempt(ports, attemptKey, networks, verify) });
}
