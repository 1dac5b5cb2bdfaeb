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

/**
 * Decrypts a stored secret. If that fails, the secret counts as lost until an operator enters it again. Decryption fails, for example, if
 * another process has encrypted the secret with a key that is no longer used.
 * @param sealed empty: there is no secret
 * @returns an empty string if there is no secret, or it is lost
 */
export function openStoredSecret(vault: Vault, purpose: string, sealed: string): string {
  if (sealed === '') return '';
  try {
    return vault.open(purpose, sealed);
  } catch {
    return '';
  }
}
