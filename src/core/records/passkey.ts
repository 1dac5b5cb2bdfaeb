import Type, { type Static } from 'typebox';
import { lineOf } from './field.ts';
import { factorTitle } from './second-factor.ts';

// The names are those of the JSON types of WebAuthn Level 3, 5.1, such as `RegistrationResponseJSON`. Browsers read and write this JSON.

const challengeToken = lineOf(4096, {
  minLength: 1,
  description: 'The `challengeToken` that came with the options. It is valid for five minutes.',
});
const base64url = (maxLength: number) => Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]+$' });
const credentialId = base64url(1400); // 5.8.3: at most 1023 bytes
const clientDataJSON = base64url(2048);
const transports = Type.Array(lineOf(32, { description: 'How the browser reaches the device.' }), { maxItems: 8 });
const type = Type.Enum(['public-key']);
const userVerification = Type.Enum(['preferred']);

const challenge = Type.String({ description: 'Random text in base64url, which the passkey signs.' });
const timeout = Type.Integer({ description: 'How long the browser waits for the device, in ms.' });
const descriptors = Type.Array(Type.Object({ type, id: Type.String(), transports }), { description: 'Passkeys of the operator.' });
const newChallengeToken = Type.String({ description: 'Send it back together with what the browser returns, within five minutes.' });

/** Response of operator/preparePasskey. */
export const PasskeyPreparation = Type.Object({
  options: Type.Object(
    {
      rp: Type.Object({ name: Type.String() }),
      user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
      ...{ challenge, timeout },
      attestation: Type.Enum(['none']),
      pubKeyCredParams: Type.Array(Type.Object({ type, alg: Type.Integer() })),
      excludeCredentials: descriptors,
      authenticatorSelection: Type.Object({ residentKey: Type.Enum(['preferred']), userVerification }),
    },
    { description: 'Options with which a browser creates a passkey: `PublicKeyCredentialCreationOptionsJSON` of WebAuthn.' },
  ),
  challengeToken: newChallengeToken,
});
export type PasskeyPreparation = Static<typeof PasskeyPreparation>;

/** Body of operator/addPasskey. Browsers add fields of their own to `credential`, which are ignored. */
export const NewPasskey = Type.Object(
  {
    challengeToken,
    credential: Type.Object(
      {
        id: credentialId,
        response: Type.Object({ clientDataJSON, attestationObject: base64url(8192), transports: Type.Optional(transports) }),
      },
      { description: 'What the browser has returned: `RegistrationResponseJSON` of WebAuthn.' },
    ),
    title: Type.Optional(factorTitle),
  },
  { additionalProperties: false },
);

/** The field `passkey` of the response `secondFactorNeeded`. */
export const PasskeyRequest = Type.Object({
  options: Type.Object(
    { challenge, timeout, userVerification, allowCredentials: descriptors },
    { description: 'Options with which a browser uses a passkey: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn.' },
  ),
  challengeToken: newChallengeToken,
});
export type PasskeyRequest = Static<typeof PasskeyRequest>;

/** The field `passkey` of operator/signIn. Browsers add fields of their own to `credential`, which are ignored. */
export const PasskeySignIn = Type.Object(
  {
    challengeToken,
    credential: Type.Object(
      { id: credentialId, response: Type.Object({ clientDataJSON, authenticatorData: base64url(2048), signature: base64url(2048) }) },
      { description: 'What the browser has returned: `AuthenticationResponseJSON` of WebAuthn.' },
    ),
  },
  {
    additionalProperties: false,
    description: 'A passkey, instead of `code`. The response 401 `secondFactorNeeded` has the options for it.',
  },
);
export type PasskeySignIn = Static<typeof PasskeySignIn>;
