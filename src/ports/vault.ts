/** Keeps secrets readable by this installation alone. */
export interface Vault {
  /** Tells one secret key from another, and nothing else of it. */
  readonly fingerprint: string;
  /** @param purpose what the secret is for: sealed for one purpose, it opens for no other */
  seal(purpose: string, secret: string): string;
  /** A hash that nobody without the key can compute, nor try guesses by: HMAC-SHA-256, base64url. */
  mac(purpose: string, text: string): string;
  /** @throws where the text was not sealed here, or for another purpose */
  open(purpose: string, sealed: string): string;
}
