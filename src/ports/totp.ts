/** Codes of authenticator apps: TOTP (RFC 6238) with six digits, 30 seconds and SHA-1, which all apps support. */
export interface Totp {
  /** Returns a new secret in base32. */
  newSecret(): string;
  /** Returns the `otpauth:` URI that an app reads as a QR code. @param account name of the account in the app */
  uriOf(secret: string, account: string): string;
  /**
   * Returns the time step of a code, or null if the code is wrong. The clock of the app may differ by one step.
   * @param now ms since the epoch
   */
  stepOf(secret: string, code: string, now: number): number | null;
}
