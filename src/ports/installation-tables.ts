/** A running process. `seen_at` is the time of its last heartbeat. */
export interface ProcessTable {
  name: string;
  seen_at: number;
}

/** Fingerprint of the secret key that encrypts the secrets of this database. Until a copy into this database is done: a mark instead. */
export interface SecretKeyTable {
  fingerprint: string;
}
