import { isRecent } from '#core/is-recent.ts';
import type { Ports } from '#ports/ports.ts';

/** Time in ms for which a browser may use a challenge. */
export const challengeLifetime = 5 * 60_000;
const challengeBits = 256;

/** The challenge that a passkey signs, so that a signature cannot be used twice. The client keeps it in encrypted form. */
export interface PasskeyChallenge {
  readonly use: 'add' | 'signIn';
  readonly operatorId: number;
  /** Session epoch of the operator. A change that ends the sessions, such as a new password, also ends the challenge. */
  readonly epoch: number;
  readonly challenge: string;
  /** ms since the epoch. */
  readonly madeAt: number;
}

type ChallengePorts = Pick<Ports, 'vault' | 'clock'>;

const purpose = 'challenge for a passkey';

/** Returns a new challenge, and its token, which the client sends back. */
export function newChallenge(
  { vault, clock, random }: ChallengePorts & Pick<Ports, 'random'>,
  operator: Pick<PasskeyChallenge, 'use' | 'operatorId' | 'epoch'>,
): { readonly challenge: string; readonly challengeToken: string } {
  const challenge: PasskeyChallenge = { ...operator, challenge: random.token(challengeBits), madeAt: clock.now() };
  return { challenge: challenge.challenge, challengeToken: vault.seal(purpose, JSON.stringify(challenge)) };
}

/** Returns the challenge of a token, or null if it is invalid, was made for something else or has expired. */
export function openChallenge(
  { vault, clock }: ChallengePorts,
  challengeToken: string,
  { use, operatorId, epoch }: Pick<PasskeyChallenge, 'use' | 'operatorId' | 'epoch'>,
): PasskeyChallenge | null {
  let challenge: PasskeyChallenge;
  try {
    challenge = JSON.parse(vault.open(purpose, challengeToken));
  } catch {
    return null; // not sealed by this installation for this purpose
  }
  const isMatching = challenge.use === use && challenge.operatorId === operatorId && challenge.epoch === epoch;
  return isMatching && isRecent(challenge.madeAt, challengeLifetime, clock.now()) ? challenge : null;
}
