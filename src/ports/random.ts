/** A cryptographically secure random generator. */
export interface Random {
  /** Returns a random token in base64url. @param bits a multiple of 8 */
  token(bits: number): string;
  /** Returns a random text of decimal digits. Every text is equally likely. @param count at most 14 */
  digits(count: number): string;
}
