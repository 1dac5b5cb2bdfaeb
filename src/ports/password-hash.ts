/** Passwords of people: slow to try, at most two computed at once. */
export interface PasswordHash {
  /** @throws Refusal `signInBusy` where too many wait. */
  hash(password: string): Promise<string>;
  /** False for a wrong password; null as hash takes as long, so that an unknown name is not told apart. */
  verify(hash: string | null, password: string): Promise<boolean>;
}
