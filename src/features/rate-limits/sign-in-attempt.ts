import type { Refusal } from '#core/messages.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import { checkDelay, networkKeys, pairKey, verifyAttempt } from './failed-attempts.ts';

/** Runs a verification and counts it as one attempt, see `verifyAttempt`. */
export type RunAttempt = <Result>(verify: () => Promise<Result | Refusal | null>) => Promise<Result>;

/**
 * Begins an attempt of a visitor to sign in, or to reset a password with a code. The delay is checked here too, so that attempts during it
 * write nothing.
 * @param name name by which the attempts of one visitor are counted, in each network separately; empty: all visitors of the profile in a
 *   network together; null: only the attempts of the networks are counted
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
