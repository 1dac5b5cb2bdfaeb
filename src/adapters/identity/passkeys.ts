import { passkeyAlgorithms } from '#core/passkey-algorithms.ts';
import type { Passkeys } from '#ports/passkeys.ts';

// Loaded with the first passkey: few installations use them, and the library is large.
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

const fromBase64url = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

/**
 * Returns the origin of the page on which a passkey was created or used, or null if that page may not use passkeys (no HTTPS, and not
 * localhost). The library then verifies that the data of the device are for the host of this origin (RP ID hash).
 */
function originOf(clientDataJSON: string): URL | null {
  const { origin }: { origin?: unknown } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
  const url = new URL(String(origin));
  return url.protocol === 'https:' || url.hostname === 'localhost' ? url : null;
}

/**
 * Returns whether an attestation is without certificates. For some certificates, the library would load revocation lists from the
 * addresses in them, over connections that Postern does not check.
 */
async function hasNoCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await helpers();
  const attestation = decodeAttestationObject(fromBase64url(attestationObject));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** Returns null instead of throwing: the library throws for most invalid data of a client. */
async function orNull<T>(check: () => Promise<T | null>): Promise<T | null> {
  try {
    return await check();
  } catch {
    return null;
  }
}

export const passkeys = (): Passkeys => ({
  verifyCreation: ({ id, response }, challenge) =>
    orNull(async () => {
      const origin = originOf(response.clientDataJSON);
      if (!origin || !(await hasNoCertificates(response.attestationObject))) return null;
      const { verifyRegistrationResponse } = await library();
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: {
          ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
          response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
        },
        ...{ expectedChallenge: challenge, expectedOrigin: origin.origin, expectedRPID: origin.hostname },
        supportedAlgorithmIDs: [...passkeyAlgorithms],
        requireUserVerification: false, // the passkey is a second factor: the password is the first
      });
      if (!verified || registrationInfo.credential.id !== id) return null;
      const { publicKey, counter } = registrationInfo.credential;
      return {
        ...{ credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), host: origin.hostname, counter },
        transports: response.transports ?? [],
      };
    }),
  verifyUse: ({ id, response }, challenge, passkey) =>
    orNull(async () => {
      const origin = originOf(response.clientDataJSON);
      if (origin?.hostname !== passkey.host || id !== passkey.credentialId) return null;
      const { verifyAuthenticationResponse } = await library();
      const { clientDataJSON, authenticatorData, signature } = response;
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: {
          ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
          response: { clientDataJSON, authenticatorData, signature },
        },
        ...{ expectedChallenge: challenge, expectedOrigin: origin.origin, expectedRPID: passkey.host },
        credential: { id, publicKey: fromBase64url(passkey.publicKey), counter: passkey.counter },
        requireUserVerification: false,
      });
      return verified ? { ...passkey, counter: authenticationInfo.newCounter } : null;
    }),
});
