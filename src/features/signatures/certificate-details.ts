import { X509Certificate } from 'node:crypto';
import type { SigningCertificate } from '#ports/signatures.ts';

/** What an operator sees of a certificate. */
export interface CertificateDetails {
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serialNumber: string;
  /** ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** Returns a name in one line: `CN=Acme, O=Acme Ltd`. */
const nameOf = (lines: string) => lines.split('\n').reverse().join(', ');

/** Returns the details of a certificate that `Signatures.readPkcs12` or `readTokenCertificate` has returned. */
export function certificateDetails({ chain }: Pick<SigningCertificate, 'chain'>): CertificateDetails {
  const certificate = new X509Certificate(Buffer.from(chain[0], 'base64'));
  const { subject, issuer, serialNumber, validFromDate, validToDate } = certificate;
  return {
    ...{ subject: nameOf(subject), issuer: nameOf(issuer), serialNumber },
    ...{ validFrom: validFromDate.getTime(), validTo: validToDate.getTime() },
  };
}
