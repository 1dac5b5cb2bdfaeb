/** A running process. `seen_at` is the time of its last heartbeat. */
export interface ProcessTable {
  name: string;
  seen_at: number;
}

/** Fingerprint of the secret key that encrypts the secrets of this database. While a copy into it is unfinished: a mark that shows this. */
export interface SecretKeyTable {
  fingerprint: string;
}
