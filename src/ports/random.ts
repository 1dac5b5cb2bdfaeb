/** Chance that nobody can guess. */
export interface Random {
  /** base64url text of that many bits. */
  token(bits: number): string;
}
