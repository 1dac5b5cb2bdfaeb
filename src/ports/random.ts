/** A cryptographically secure random generator. */
export interface Random {
  /** Returns a random token of `bits` bits in base64url. */
  token(bits: number): string;
  /** Returns a random text of `count` decimal digits. Every text is equally likely. */
  digits(count: number): string;
}
