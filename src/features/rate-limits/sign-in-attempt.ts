import type { Refusal } from '#core/messages.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import { checkDelay, networkKeys, pairKey, verifyAttempt } from './failed-attempts.ts';

/** Runs a verification and counts it as one attempt, see `verifyAttempt`. */
export type RunAttempt = <Result>(verify: () => Promise<Result | Refusal | null>) => Promise<Result>;

/**
 * Begins an attempt of a visitor to sign in, or to reset a password with a code. Checks the delay first, so that attempts during the delay
 * write nothing.
 * @param name by which attempts are counted in each narrow network. Empty: all attempts there at the profile count together.
 *   null: attempts count only for the networks, narrow and wide
 * @throws Refusal (429) during the delay after failed attempts
 */
export async function beginAttempt(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  profile: ProfileRef,
  name: string | null,
  address: string,
): Promise<RunAttempt> {
  const pair = name === null ? null : pairKey(String(profile.profile_id), name, address);
  const networks = networkKeys('signIn', address);
  await checkDelay(store.read, pair ? [pair, ...networks] : networks, clock.now());
  return (verify) => verifyAttempt({ store, clock }, pair, networks, verify);
}
