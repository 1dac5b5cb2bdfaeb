import { fieldRefusal } from '#core/messages.ts';
import { NewPasskey, PasskeyPreparation } from '#core/records/passkey.ts';
import { CurrentPassword, RecoveryCodes } from '#core/records/second-factor.ts';
import { changeOperation, readOperation } from '#features/operation.ts';
import { newChallenge, openChallenge } from './passkey-challenge.ts';
import { creationOptions, passkeysOf, sealPasskey } from './passkey-rows.ts';
import { checkIsOperator, insertSecondFactor, selectOperator, selectSecondFactors, verifyOperatorPassword } from './second-factor-rows.ts';

const expiredRefusal = () => fieldRefusal('challengeToken', 'is invalid or has expired. Call operator/preparePasskey again');

export const preparePasskey = readOperation({
  name: 'operator/preparePasskey',
  method: 'POST',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Returns options with which a browser creates a passkey. Nothing is stored until you call operator/addPasskey.',
  body: CurrentPassword,
  response: PasskeyPreparation,
  async read({ currentPassword }, caller, ports) {
    const operator = await verifyOperatorPassword(ports, caller, currentPassword);
    const { challenge, challengeToken } = newChallenge(ports, { use: 'add', operatorId: caller.id, epoch: operator.session_epoch });
    const existing = passkeysOf(await selectSecondFactors(ports.store.read, caller.id), ports.vault);
    return { options: creationOptions(ports.vault, operator, challenge, existing), challengeToken };
  },
});

export const addPasskey = changeOperation({
  name: 'operator/addPasskey',
  method: 'POST',
  role: 'reader',
  withoutSecondFactor: true,
  summary: 'Adds a passkey as your second factor. If you had no second factor before, the response contains recovery codes.',
  message: 'secondFactorAdded',
  body: NewPasskey,
  responseFields: RecoveryCodes,
  async check({ challengeToken, credential }, caller, ports) {
    checkIsOperator(caller);
    const { session_epoch: epoch } = await selectOperator(ports.store.read, caller.id);
    const challenge = openChallenge(ports, challengeToken, { use: 'add', operatorId: caller.id, epoch });
    if (!challenge) throw expiredRefusal();
    const passkey = await ports.passkeys.verifyCreation(credential, challenge.challenge);
    if (!passkey)
      throw fieldRefusal('credential', 'is not valid for the options of operator/preparePasskey, or was created on a page without HTTPS');
    return { challenge, passkey };
  },
  async change({ title = 'Passkey' }, caller, tx, ports, { challenge, passkey }) {
    if ((await selectOperator(tx, caller.id)).session_epoch !== challenge.epoch) throw expiredRefusal();
    const existing = passkeysOf(await selectSecondFactors(tx, caller.id), ports.vault);
    if (existing.some(({ credentialId }) => credentialId === passkey.credentialId)) throw fieldRefusal('credential', 'was added already');
    const factor = { kind: 'passkey', title, secret: sealPasskey(ports.vault, passkey), last_step: challenge.madeAt } as const;
    return insertSecondFactor(tx, caller, factor, ports);
  },
});
