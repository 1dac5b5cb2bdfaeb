import { Refusal } from '#core/messages.ts';
import { parseCode } from '#core/sign-in-codes.ts';
import { countAttempt, type FailureKey } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { recoveryCodeKey, selectSecondFactors, totpPurpose } from './second-factor-rows.ts';

/** What proves a second factor. Each proof works once. */
export type SecondFactorProof = { readonly factorId: number; readonly step: number } | { readonly recoveryCode: string };

type ProofPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'totp'>;

/** Wrong codes count for the operator, from all networks: who guesses them knows the password already. */
const attemptKey = (operatorId: number): FailureKey => ({ scope: 'pair', key: `second factor ${operatorId}` });

async function findProof(
  { store, clock, vault, totp }: ProofPorts,
  operatorId: number,
  factors: Awaited<ReturnType<typeof selectSecondFactors>>,
  code: string,
): Promise<SecondFactorProof | null> {
  const digits = parseCode(code);
  for (const { id, secret, last_step } of factors) {
    const step = totp.stepOf(vault.open(totpPurpose, secret), digits, clock.now());
    if (step !== null && step > last_step) return { factorId: id, step };
  }
  const key = recoveryCodeKey(vault, operatorId, digits);
  const row = await store.read
    .selectFrom('recovery_code')
    .select('code_key')
    .where('operator_id', '=', operatorId)
    .where('code_key', '=', key)
    .executeTakeFirst();
  return row ? { recoveryCode: key } : null;
}

/**
 * Checks the code of an operator whose password is right.
 * @returns the proof, for `consumeProof`; null: the operator has no second factor; a refusal: the code is wrong
 * @throws Refusal (401) if no code was sent; 429 during the delay after wrong codes
 */
export async function proveSecondFactor(
  ports: ProofPorts,
  operatorId: number,
  code: string | undefined,
): Promise<SecondFactorProof | Refusal | null> {
  const factors = await selectSecondFactors(ports.store.read, operatorId);
  if (factors.length === 0) return null;
  if (code === undefined) throw new Refusal('secondFactorNeeded');
  await countAttempt(ports, [attemptKey(operatorId)]);
  return (await findProof(ports, operatorId, factors, code)) ?? new Refusal('secondFactorWrong');
}

/** Uses up a proof, in the transaction that starts the session. @throws Refusal (401) if another sign-in has used it */
export async function consumeProof(tx: Tx, operatorId: number, proof: SecondFactorProof, now: number): Promise<void> {
  const used =
    'recoveryCode' in proof
      ? (
          await tx
            .deleteFrom('recovery_code')
            .where('operator_id', '=', operatorId)
            .where('code_key', '=', proof.recoveryCode)
            .executeTakeFirst()
        ).numDeletedRows
      : (
          await tx
            .updateTable('second_factor')
            .set({ last_step: proof.step, last_used_at: now })
            .where('id', '=', proof.factorId)
            .where('last_step', '<', proof.step)
            .executeTakeFirst()
        ).numUpdatedRows;
  if (used === 0n) throw new Refusal('secondFactorWrong');
  await tx.deleteFrom('failure').where('key', '=', attemptKey(operatorId).key).execute();
}
