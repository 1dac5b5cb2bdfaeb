/** Type and details of a private key, as `node:crypto` names them. */
export interface KeyProperties {
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: { readonly modulusLength?: number; readonly namedCurve?: string } | undefined;
}

/** Bits of an RSA key: a shorter key is not secure, and signing with a longer one takes too long. */
const [minBits, maxBits] = [2048, 4096];

const algorithmProblem = 'must be an RSA key, or a key of the curve P-256';

/** The algorithm identifiers of RSA (RFC 8017, A.1) and of the curve P-256 (RFC 5480, 2.1.1) in DER. */
const algorithms = ['300d06092a864886f70d0101010500', '301306072a8648ce3d020106082a8648ce3d030107'];
/** What comes before the algorithm in a private key (RFC 5208, 5): the tag and the length of a sequence, and the version 0. */
const beforeAlgorithm = /^30(?:[0-7].|81..|82....)020100/;

/** Returns why the text of a private key must not be parsed, or null. */
export function clientKeyTextProblem(pem: string): string | null {
  const [, base64] = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem) ?? [];
  const der = Buffer.from(base64 ?? '', 'base64').toString('hex');
  if (pem.split('-----BEGIN').length !== 2 || !beforeAlgorithm.test(der))
    return 'must be a private key in PEM (PKCS #8), without a passphrase';
  const rest = der.replace(beforeAlgorithm, '');
  return algorithms.some((algorithm) => rest.startsWith(algorithm)) ? null : algorithmProblem;
}

/** Returns why a client cannot sign with a private key (`private_key_jwt`), or null. */
export function clientKeyProblem({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyProperties): string | null {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return null;
  if (asymmetricKeyType !== 'rsa') return algorithmProblem;
  return modulusLength >= minBits && modulusLength <= maxBits ? null : `must be an RSA key of ${minBits} to ${maxBits} bits`;
}

/**
 * Parses the private key of a client. Its text is checked first, because parsing a key of a forbidden algorithm can take seconds:
 * OpenSSL computes its public key.
 * @param parse parses the text; throws if it is damaged
 * @returns the key, or why a client cannot sign with it
 */
export function parseClientKey<Key extends KeyProperties>(
  pem: string,
  parse: (pem: string) => Key,
): { readonly key: Key } | { readonly problem: string } {
  const textProblem = clientKeyTextProblem(pem);
  if (textProblem !== null) return { problem: textProblem };
  const key = parse(pem);
  const problem = clientKeyProblem(key);
  return problem === null ? { key } : { problem };
}
