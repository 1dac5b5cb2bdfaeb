import { Refusal } from '#core/messages.ts';
import type { OperatorSignIn } from '#core/records/operator.ts';
import type { PasskeyRequest, PasskeySignIn } from '#core/records/passkey.ts';
import { parseCode } from '#core/sign-in-codes.ts';
import { attemptTurn, countAttempt, type FailureKey, removeLatestFailures } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { challengeLifetime, newChallenge, openChallenge } from './passkey-challenge.ts';
import { passkeysOf, requestOptions, type StoredPasskey, sealPasskey } from './passkey-rows.ts';
import { recoveryCodeKey, selectSecondFactors, totpPurpose } from './second-factor-rows.ts';

/** What proves a second factor. Each proof works once. */
export type SecondFactorProof =
  | {
      readonly factorId: number;
      /** The value of `last_step` before this proof. */
      readonly lastStep: number;
      /** The new value of `last_step`: the time step of the code, or the time in ms at which the challenge was made. */
      readonly step: number;
      /** The sealed passkey with its new counter. */
      readonly secret?: string;
    }
  | { readonly recoveryCode: string };

type ProofPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'totp' | 'passkeys' | 'random'>;
type Factors = Awaited<ReturnType<typeof selectSecondFactors>>;
type OperatorEpoch = { readonly id: number; readonly session_epoch: number };

/** Time steps by which a used code may be ahead of a code that is entered later. Each code may be one step away from the server's time. */
const maxStepsAhead = 2;

/**
 * Returns whether a step comes after the last one. Ignores a last step that is too far ahead: it was recorded while a clock was wrong,
 * and would lock the operator out.
 */
const isNewer = (step: number, last: number, maxAhead: number): boolean => step > last || last > step + maxAhead;

/** Returns the key by which wrong codes and passkeys are counted, in all networks together: each attempt needs the right password. */
const attemptKey = (operatorId: number): FailureKey => ({ scope: 'pair', key: `second factor ${operatorId}` });

async function proofOfCode(
  { store, clock, vault, totp }: ProofPorts,
  operatorId: number,
  factors: Factors,
  code: string,
): Promise<SecondFactorProof | null> {
  const digits = parseCode(code);
  for (const { id, kind, secret, last_step } of factors) {
    if (kind !== 'totp') continue;
    const step = totp.stepOf(vault.open(totpPurpose, secret), digits, clock.now());
    if (step !== null && isNewer(step, last_step, maxStepsAhead)) return { factorId: id, lastStep: last_step, step };
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

/** Returns the proof of a passkey, null if it is wrong, or 'expired' if the challenge cannot be used any more. */
async function proofOfPasskey(
  ports: ProofPorts,
  { id: operatorId, session_epoch: epoch }: OperatorEpoch,
  passkeys: readonly StoredPasskey[],
  { challengeToken, credential }: PasskeySignIn,
): Promise<SecondFactorProof | null | 'expired'> {
  const storedPasskey = passkeys.find(({ credentialId }) => credentialId === credential.id);
  if (!storedPasskey) return null;
  const challenge = openChallenge(ports, challengeToken, { use: 'signIn', operatorId, epoch });
  if (!challenge || !isNewer(challenge.madeAt, storedPasskey.row.last_step, challengeLifetime)) return 'expired';
  const { row, ...passkey } = storedPasskey;
  const usedPasskey = await ports.passkeys.verifyUse(credential, challenge.challenge, passkey);
  const change = { lastStep: row.last_step, step: challenge.madeAt };
  return usedPasskey && { factorId: row.id, ...change, secret: sealPasskey(ports.vault, usedPasskey) };
}

/** Returns a refusal that asks for the second factor, with options for the passkeys. */
function secondFactorNeeded(
  ports: ProofPorts,
  { id: operatorId, session_epoch: epoch }: OperatorEpoch,
  passkeys: readonly StoredPasskey[],
): Refusal {
  if (passkeys.length === 0) return new Refusal('secondFactorNeeded');
  const { challenge, challengeToken } = newChallenge(ports, { use: 'signIn', operatorId, epoch });
  const passkey: PasskeyRequest = { options: requestOptions(passkeys, challenge), challengeToken };
  return new Refusal('secondFactorNeeded', undefined, { fields: { passkey } });
}

/**
 * Checks the second factor of an operator whose password is right.
 * @returns the proof, for `consumeProof`; null: the operator has no second factor; a refusal: the proof is wrong
 * @throws Refusal (401) if none was sent, or the challenge of the passkey cannot be used any more; (429) during the delay after failures
 */
export async function checkSecondFactor(
  ports: ProofPorts,
  operator: OperatorEpoch,
  { code, passkey }: Pick<OperatorSignIn, 'code' | 'passkey'>,
): Promise<SecondFactorProof | Refusal | null> {
  const factors = await selectSecondFactors(ports.store.read, operator.id);
  if (factors.length === 0) return null;
  const passkeys = passkeysOf(factors, ports.vault);
  if (code === undefined && passkey === undefined) throw secondFactorNeeded(ports, operator, passkeys);
  const keys = [attemptKey(operator.id)];
  await countAttempt(ports, keys);
  const proof =
    passkey === undefined
      ? await proofOfCode(ports, operator.id, factors, code ?? '')
      : await proofOfPasskey(ports, operator, passkeys, passkey);
  if (proof === 'expired') {
    await ports.store.write((tx) => removeLatestFailures(tx, keys), attemptTurn(keys)); // nothing wrong was sent
    throw secondFactorNeeded(ports, operator, passkeys);
  }
  return proof ?? new Refusal('secondFactorWrong');
}

/** Uses up a proof, in the transaction that starts the session. @throws Refusal (401) if it was used, or its factor removed, meanwhile */
export async function consumeProof(tx: Tx, operatorId: number, proof: SecondFactorProof, now: number): Promise<void> {
  const changedRows =
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
            .set({ last_step: proof.step, last_used_at: now, ...(proof.secret === undefined ? {} : { secret: proof.secret }) })
            .where('id', '=', proof.factorId)
            .where('last_step', '=', proof.lastStep)
            .executeTakeFirst()
        ).numUpdatedRows;
  if (changedRows === 0n) throw new Refusal('secondFactorWrong');
  await tx.deleteFrom('failure').where('key', '=', attemptKey(operatorId).key).execute();
}
