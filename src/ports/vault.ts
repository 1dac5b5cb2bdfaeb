/** Encrypts secrets so that only this installation can read them. */
export interface Vault {
  /** Identifies the secret key without revealing it. */
  readonly fingerprint: string;
  /** Encrypts a secret. @param purpose use of the secret: `open` fails for any other purpose */
  seal(purpose: string, secret: string): string;
  /** Returns an HMAC-SHA-256 in base64url. Without the key, nobody can compute it or use it to test guesses. */
  mac(purpose: string, text: string): string;
  /** Decrypts a secret. @throws Error if it was sealed with another key or for another purpose */
  open(purpose: string, sealed: string): string;
}
