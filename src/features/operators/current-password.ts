import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import type { Caller } from '#features/operation.ts';
import { networkKeys, pairKey, verifyAttempt } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/**
 * Verifies the caller's current password. A wrong one counts as a failed sign-in, also in a dry run, which must not allow more guesses.
 * @param hash of the password
 * @throws Refusal 403; 429 during the delay after failed attempts; 503 if too many sign-ins wait
 */
export async function verifyCurrentPassword(
  ports: Pick<Ports, 'passwordHash' | 'store' | 'clock'>,
  { tid, address }: Caller,
  name: string,
  hash: string,
  password: string,
): Promise<void> {
  const pair = pairKey(`operator ${tid}`, fold(name), address);
  try {
    await ports.passwordHash.runInTurn(address, (verify) =>
      verifyAttempt(ports, pair, networkKeys('operator', address), async () => (await verify(hash || null, password)) || null),
    );
  } catch (cause) {
    throw cause instanceof Refusal && cause.messageName === 'signInWrong' ? new Refusal('currentPasswordWrong') : cause;
  }
}

/** Checks that the password of an operator was not changed by another request since it was verified. @throws Refusal (403) */
export async function checkPasswordIsCurrent(tx: Tx, operatorId: number, verifiedHash: string): Promise<void> {
  const { password_hash } = await tx.selectFrom('operator').select('password_hash').where('id', '=', operatorId).executeTakeFirstOrThrow();
  if (password_hash !== verifiedHash) throw new Refusal('currentPasswordWrong');
}
