/** A running process. `seen_at` is the time of its last heartbeat. */
export interface ProcessTable {
  name: string;
  seen_at: number;
}

/** A name in a folder that a process holds while it changes the file or folder with this name. */
export interface HeldNameTable {
  /** Hash of the folder and the name. */
  name_key: string;
  process: string;
  /** Identifies the work that holds the name. */
  holder: string;
}

/** The certificate with which a tenant signs PDF files. */
export interface SignatureTable {
  tid: number;
  /** The certificate and those of its issuers: DER in base64, separated by spaces. */
  chain: string;
  /** PKCS #8 in PEM, sealed; empty: the key is in the PKCS #11 token of the server. */
  private_key: string;
  /** Id of the key in the token; empty: the key is stored here. */
  token_key_id: string;
  /** Empty: no time stamps. */
  timestamp_url: string;
}

/** Fingerprint of the secret key that encrypts the secrets of this database. Until a copy into this database is complete: a mark. */
export interface SecretKeyTable {
  fingerprint: string;
}
