/** Type and details of a private key, as `node:crypto` names them. */
export interface KeyProperties {
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: { readonly modulusLength?: number; readonly namedCurve?: string } | undefined;
}

/** Bits of an RSA key: a shorter key is not secure, and signing with a longer one takes too long. */
const [minBits, maxBits] = [2048, 4096];

/** Returns why a client cannot sign with a private key (`private_key_jwt`), or null. */
export function clientKeyProblem({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyProperties): string | null {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return null;
  if (asymmetricKeyType !== 'rsa') return 'must be an RSA key, or a key of the curve P-256';
  return modulusLength >= minBits && modulusLength <= maxBits ? null : `must be an RSA key of ${minBits} to ${maxBits} bits`;
}
