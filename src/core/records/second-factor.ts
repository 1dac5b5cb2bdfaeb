import Type, { type Static } from 'typebox';
import { count, flag, instant, limits, lineOf, orNull, recordId, requiredLine } from './field.ts';

/** Field of the title of a second factor. */
export const factorTitle = requiredLine(limits.name, 'Your name for the second factor, such as the name of the device.');

const fields = {
  id: recordId('Number of the second factor.'),
  kind: Type.Enum(['totp', 'passkey'], { description: 'Kind of the second factor: totp is an authenticator app.' }),
  title: factorTitle,
  createDateTime: instant('When the second factor was added.'),
  lastUseDateTime: orNull(instant('When you last signed in with this second factor; null: never.')),
};

/** Proves that the operator makes the change: a session alone, which may be stolen, must not be enough. */
const currentPassword = lineOf(limits.password, { minLength: 1, description: 'Your current password.' });
const strict = { additionalProperties: false };

/** Field of a code. Spaces and hyphens in it are ignored. */
export const secondFactorCode = lineOf(32, {
  minLength: 1,
  description: 'The six digits that the authenticator app shows, or a recovery code.',
});

/** Response fields of an operation that creates recovery codes. */
export const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String(), {
    description: 'The codes. Each can be used once instead of the second factor. They are not shown again.',
  }),
});

/** Response of operator/getSecondFactors. */
export const SecondFactors = Type.Object({
  list: Type.Array(Type.Object(fields), { description: 'Your second factors.' }),
  recoveryCodesLeft: count('Number of recovery codes that you have not used.'),
  required: flag('true: the policy of your tenant requires a second factor.'),
});
export type SecondFactors = Static<typeof SecondFactors>;

/** Response of operator/prepareTotp. */
export const TotpSecret = Type.Object({
  secret: Type.String({ description: 'The secret in base32, for apps that cannot read a QR code.' }),
  uri: Type.String({ description: 'The secret as an `otpauth:` URI, to be shown as a QR code.' }),
});

/** Body of operator/addTotp. */
export const NewTotp = Type.Object(
  {
    secret: Type.String({ pattern: '^[A-Z2-7]{32}$', description: 'The secret from operator/prepareTotp.' }),
    code: lineOf(32, { minLength: 1, description: 'The six digits that the authenticator app shows.' }),
    title: Type.Optional(factorTitle),
    currentPassword,
  },
  strict,
);

/** Body of operator/deleteSecondFactor. */
export const SecondFactorDeletion = Type.Object({ id: fields.id, currentPassword }, strict);

/** Body of operator/renewRecoveryCodes, operator/preparePasskey and operator/linkProvider. */
export const CurrentPassword = Type.Object({ currentPassword }, strict);
export type CurrentPassword = Static<typeof CurrentPassword>;
