import { X509Certificate } from 'node:crypto';
import { CertificateUnusable, type SigningCertificate } from '#ports/signatures.ts';
import { chainOf, isAllowedKey } from './certificate-chain.ts';

const maxCertificates = 10;
const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]{1,65536}-----END CERTIFICATE-----/g;

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new CertificateUnusable('certificate', 'contains a damaged certificate');
  }
}

/** Returns whether the key of a certificate may sign. OpenSSL throws an error if it does not know the algorithm. */
function hasAllowedKey(certificate: X509Certificate): boolean {
  try {
    return isAllowedKey(certificate.publicKey);
  } catch {
    return false;
  }
}

/** Reads the first certificate of a PEM file, and those that issued it. @throws CertificateUnusable */
export function readPemChain(file: Uint8Array): SigningCertificate['chain'] {
  const texts = Buffer.from(file).toString('latin1').match(pemCertificate) ?? [];
  if (texts.length > maxCertificates) throw new CertificateUnusable('certificate', `must contain at most ${maxCertificates} certificates`);
  const [own, ...others] = texts.map(parse);
  if (!own) throw new CertificateUnusable('certificate', 'must be a PEM file with the certificate of the key in the token');
  if (!hasAllowedKey(own))
    throw new CertificateUnusable('certificate', 'must have an RSA key of 2048 to 4096 bits, or a key of the curve P-256, P-384 or P-521');
  return chainOf(own, others);
}
