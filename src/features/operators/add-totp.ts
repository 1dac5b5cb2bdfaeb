import Type from 'typebox';
import { fieldRefusal } from '#core/messages.ts';
import { NewTotp, RecoveryCodes, TotpSecret } from '#core/records/second-factor.ts';
import { parseCode } from '#core/sign-in-codes.ts';
import { changeOperation, readOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { checkPasswordIsCurrent } from './current-password.ts';
import { checkIsOperator, insertSecondFactor, selectSecondFactors, totpPurpose, verifyOperatorPassword } from './second-factor-rows.ts';

export const prepareTotp = readOperation({
  name: 'operator/prepareTotp',
  method: 'POST',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Returns a secret for an authenticator app. Nothing is stored until you call operator/addTotp.',
  body: Type.Object({}, { additionalProperties: false }),
  response: TotpSecret,
  async read(_body, caller, { totp }) {
    checkIsOperator(caller);
    const secret = totp.newSecret();
    return { secret, uri: totp.uriOf(secret, caller.name) };
  },
});

/**
 * Checks that the operator has not added an app with this secret before: otherwise each code could be used once for each app.
 * @throws Refusal (400)
 */
async function checkSecretIsNew(tx: Tx, operatorId: number, vault: Pick<Vault, 'open'>, secret: string): Promise<void> {
  const factors = await selectSecondFactors(tx, operatorId);
  if (factors.some((factor) => factor.kind === 'totp' && vault.open(totpPurpose, factor.secret) === secret))
    throw fieldRefusal('secret', 'was added already: get a new one with operator/prepareTotp to add another app');
}

export const addTotp = changeOperation({
  name: 'operator/addTotp',
  method: 'POST',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Adds an authenticator app as your second factor. If you had no second factor before, the response contains recovery codes.',
  message: 'secondFactorAdded',
  body: NewTotp,
  responseFields: RecoveryCodes,
  async check({ secret, code, currentPassword }, caller, ports) {
    const { password_hash: passwordHash } = await verifyOperatorPassword(ports, caller, currentPassword);
    const step = ports.totp.stepOf(secret, parseCode(code), ports.clock.now());
    if (step === null)
      throw fieldRefusal(
        'code',
        'is wrong: enter the six digits that the app shows now, and check that the clocks of the phone and of the server are right',
      );
    return { passwordHash, step };
  },
  async change({ secret, title = 'Authenticator app' }, caller, tx, ports, { passwordHash, step }) {
    await checkPasswordIsCurrent(tx, caller.id, passwordHash);
    await checkSecretIsNew(tx, caller.id, ports.vault, secret);
    const factor = { kind: 'totp', title, secret: ports.vault.seal(totpPurpose, secret), last_step: step } as const;
    return insertSecondFactor(tx, caller, factor, ports);
  },
});
