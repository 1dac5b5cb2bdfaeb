/** The PKCS #11 token of the server, such as a hardware security module, and who may use its keys. */
export interface TokenSettings {
  /** Path of the PKCS #11 module: a shared library of the manufacturer. */
  readonly module: string;
  /** Label of the token. */
  readonly label: string;
  readonly pin: string;
  /** Ids of the keys with which each tenant may sign: hexadecimal. */
  readonly keyIds: ReadonlyMap<number, readonly string[]>;
}
