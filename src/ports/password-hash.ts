/** False for a wrong password; null as hash takes as long, so that an unknown name is not told apart. */
export type VerifyPassword = (hash: string | null, password: string) => Promise<boolean>;

/** Who sets a password: a visitor, or somebody who manages a tenant. */
export type PasswordSetter = { readonly address: string } | { readonly tid: number };

/** Passwords of people: slow to try, at most two computed at once. */
export interface PasswordHash {
  /**
   * @param setter whose turn it takes
   * @throws Refusal `signInBusy` where too many wait
   */
  hash(password: string, setter: PasswordSetter): Promise<string>;
  /**
   * Runs an attempt when its turn comes: what is counted then is counted one by one.
   * @param address of who asks: networks take turns, so that one does not fill the queue for the others
   * @throws Refusal `signInBusy` where too many wait
   */
  inTurn<T>(address: string, attempt: (verify: VerifyPassword) => Promise<T>): Promise<T>;
  /** How many wait for their turn. */
  waiting(): number;
}
