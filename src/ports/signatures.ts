/** A private key: PKCS #8 in PEM, or the id of a key in the PKCS #11 token of the server, hexadecimal. */
export type SigningKey = { readonly pem: string } | { readonly tokenKeyId: string };

/** A certificate with its private key. */
export interface SigningCertificate {
  readonly key: SigningKey;
  /** The certificate first, then those of its issuers, as far as they are known: DER in base64. */
  readonly chain: readonly [string, ...string[]];
}

/** A certificate cannot be used. The message says why, in words for an operator. */
export class CertificateUnusable extends Error {
  readonly field: 'certificate' | 'password' | 'tokenKeyId';

  constructor(field: CertificateUnusable['field'], message: string) {
    super(message);
    this.field = field;
  }
}

/** The time-stamp authority does not respond, or its response cannot be used. The message says why, in words for an operator. */
export class TimeStampUnavailable extends Error {}

/** The server has no PKCS #11 token, or its token does not sign. The message says why, in words for an operator. */
export class TokenUnavailable extends Error {}

/** A time-stamp authority (RFC 3161) that a tenant names. */
export interface TimeStampAuthority {
  readonly url: string;
  readonly tid: number;
}

/** Signs digests of PDF files with the certificate of a tenant. */
export interface Signatures {
  /** Returns the ids of the keys in the PKCS #11 token with which a tenant may sign. */
  tokenKeyIds(tid: number): readonly string[];
  /**
   * Reads a certificate whose key is in the token, and tries the key.
   * @param pem the certificate and those of its issuers, in PEM
   * @throws CertificateUnusable, TokenUnavailable
   */
  readTokenCertificate(tid: number, pem: Uint8Array, tokenKeyId: string): Promise<SigningCertificate>;
  /** Reads the certificate and the key from a PKCS #12 file. @throws CertificateUnusable */
  readPkcs12(file: Uint8Array, password: string): Promise<SigningCertificate>;
  /**
   * Returns a detached CMS signature for PAdES, in DER: of the level B-B, or B-T with a time-stamp authority.
   * @param digest SHA-256 of the signed bytes
   * @throws TimeStampUnavailable, TokenUnavailable
   */
  sign(tid: number, digest: Uint8Array, certificate: SigningCertificate, authority: TimeStampAuthority | null): Promise<Uint8Array>;
}
