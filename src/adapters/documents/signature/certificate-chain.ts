import type { KeyObject, X509Certificate } from 'node:crypto';

const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const [minRsaBits, maxRsaBits] = [2048, 4096];

/** Returns whether signatures may use a key, public or private: RSA of `minRsaBits` to `maxRsaBits`, or EC on one of `curves`. */
export function isAllowedKey({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  const isRsa = asymmetricKeyType === 'rsa' && modulusLength >= minRsaBits && modulusLength <= maxRsaBits;
  return isRsa || (asymmetricKeyType === 'ec' && curves.includes(namedCurve));
}

/** Returns a certificate and the chain of its issuers, as far as `certificates` contains them: DER in base64. */
export function chainOf(own: X509Certificate, certificates: readonly X509Certificate[]): [string, ...string[]] {
  const issuers: X509Certificate[] = [];
  for (let last = own; ; ) {
    const issuer = certificates.find((other) => other !== last && !issuers.includes(other) && other !== own && last.checkIssued(other));
    if (!issuer) break;
    issuers.push(issuer);
    last = issuer;
  }
  return [own.raw.toString('base64'), ...issuers.map(({ raw }) => raw.toString('base64'))];
}
