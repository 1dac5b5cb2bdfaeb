/** A certificate with its private key, as it is stored. */
export interface SigningCertificate {
  /** The private key: PKCS #8 in PEM. */
  readonly key: string;
  /** The certificate first, then those of its issuers, as far as they are known: DER in base64. */
  readonly chain: readonly [string, ...string[]];
}

/** A PKCS #12 file cannot be used. The message says why, in words for an operator. */
export class CertificateUnusable extends Error {
  readonly field: 'certificate' | 'password';

  constructor(field: 'certificate' | 'password', message: string) {
    super(message);
    this.field = field;
  }
}

/** The time-stamp authority does not respond, or its response cannot be used. The message says why, in words for an operator. */
export class TimeStampUnavailable extends Error {}

/** A time-stamp authority (RFC 3161) that a tenant names. */
export interface TimeStampAuthority {
  readonly url: string;
  readonly tid: number;
}

/** Signs digests of PDF files with the certificate of a tenant. */
export interface Signatures {
  /** Reads the certificate and the key from a PKCS #12 file. @throws CertificateUnusable */
  readPkcs12(file: Uint8Array, password: string): Promise<SigningCertificate>;
  /**
   * Returns a detached CMS signature for PAdES, in DER: of the level B-B, or B-T with a time-stamp authority.
   * @param digest SHA-256 of the signed bytes
   * @throws TimeStampUnavailable
   */
  sign(digest: Uint8Array, certificate: SigningCertificate, authority: TimeStampAuthority | null): Promise<Uint8Array>;
}
