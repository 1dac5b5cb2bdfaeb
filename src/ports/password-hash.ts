/**
 * Returns whether a password is correct. For an unknown user, pass null as `storedHash`: the check takes the same time, so
 * that clients cannot find out which names exist.
 */
export type VerifyPassword = (storedHash: string | null, password: string) => Promise<boolean>;

/** Who sets a password: a visitor (the address), or a key or an operator of a tenant. Without `kind` and `id`, nobody has signed in. */
export type PasswordSetter = { readonly address: string } | { readonly tid: number; readonly kind?: string; readonly id?: number };

/** Hashes and verifies passwords. The hash is slow on purpose, and at most two are computed at the same time. */
export interface PasswordHash {
  /**
   * Returns the hash of a new password.
   * @param setter takes turns with other setters, and with the networks of sign-in attempts
   * @throws Refusal `signInBusy` if too many are waiting
   */
  hash(password: string, setter: PasswordSetter): Promise<string>;
  /**
   * Runs a sign-in attempt when its turn comes. Code that reads and updates failure counts belongs in `attempt`, so that
   * waiting attempts do not read the same counts.
   * @param address of the client. Networks take turns, so that one network cannot fill the queue for the others.
   * @throws Refusal `signInBusy` if too many are waiting
   */
  runInTurn<T>(address: string, attempt: (verify: VerifyPassword) => Promise<T>): Promise<T>;
  /** Returns the number of calls that wait for their turn. */
  waitingCount(): number;
}
