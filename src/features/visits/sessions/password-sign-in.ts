import { beginAttempt } from '#features/rate-limits/sign-in-attempt.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, PasswordCredentials, PasswordSignIn, ProfileRef } from '#ports/sign-in.ts';

/**
 * Verifies one sign-in attempt with a password, and counts it if it fails.
 * @param kind the way in which the profile verifies passwords
 * @throws Refusal (400) if a profile with a directory has changed meanwhile; (401), the same for an unknown user, a wrong password and an
 *   inactive user; (403) for a directory user outside the required group; (429) during the delay after failed attempts; (503) if too many
 *   requests wait, or the directory is not available
 */
export async function signInByPassword(
  ports: Pick<Ports, 'store' | 'clock'>,
  profile: ProfileRef,
  kind: PasswordSignIn,
  credentials: PasswordCredentials,
  address: string,
): Promise<CompletedSignIn> {
  const countAttempt = await beginAttempt(ports, profile, kind.attemptName(credentials.username), address);
  return kind.verify(profile, credentials, { address, countAttempt });
}
