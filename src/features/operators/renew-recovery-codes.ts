import { Refusal } from '#core/messages.ts';
import { CurrentPassword, RecoveryCodes } from '#core/records/second-factor.ts';
import { changeOperation } from '#features/operation.ts';
import { checkPasswordIsCurrent } from './current-password.ts';
import { renewCodes, selectSecondFactors, verifyOperatorPassword } from './second-factor-rows.ts';

export const renewRecoveryCodes = changeOperation({
  name: 'operator/renewRecoveryCodes',
  method: 'POST',
  role: 'reader',
  summary: 'Replaces your recovery codes. The old ones no longer work.',
  message: 'recoveryCodesRenewed',
  body: CurrentPassword,
  responseFields: RecoveryCodes,
  check: ({ currentPassword }, caller, ports) => verifyOperatorPassword(ports, caller, currentPassword),
  async change(_body, caller, tx, ports, { password_hash }) {
    await checkPasswordIsCurrent(tx, caller.id, password_hash);
    if ((await selectSecondFactors(tx, caller.id)).length === 0)
      throw new Refusal('recordUnknown', 'You have no second factor. Add one first: you then get recovery codes.');
    return { created: { recoveryCodes: await renewCodes(tx, caller.id, ports) }, audit: {} };
  },
});
