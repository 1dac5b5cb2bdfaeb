/** A cryptographically secure random generator. */
export interface Random {
  /** Returns a random token of `bits` bits in base64url. */
  token(bits: number): string;
}
