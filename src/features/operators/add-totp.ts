import Type from 'typebox';
import { fieldRefusal } from '#core/messages.ts';
import { NewTotp, RecoveryCodes, TotpSecret } from '#core/records/second-factor.ts';
import { parseCode } from '#core/sign-in-codes.ts';
import { changeOperation, readOperation } from '#features/operation.ts';
import { checkPasswordIsCurrent } from './current-password.ts';
import { checkIsOperator, insertSecondFactor, totpPurpose, verifyOperatorPassword } from './second-factor-rows.ts';

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
    const factor = { kind: 'totp', title, secret: ports.vault.seal(totpPurpose, secret), last_step: step } as const;
    return insertSecondFactor(tx, caller, factor, ports);
  },
});
