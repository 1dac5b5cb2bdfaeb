/** How the engines write what they share. */
export interface ColumnTypes {
  readonly engine: 'sqlite' | 'postgres';
  /** A number that the engine gives out, never twice. */
  readonly identity: string;
  /** The same in a table that is kept by tenant, and that table's key. */
  readonly tenantIdentity: string;
  readonly tenantKey: string;
  /** A 64-bit integer. */
  readonly integer: string;
  /** Text that is compared by its code points. */
  readonly text: string;
}

/** A step from one form of the database to the next; never changed once released. */
export interface Migration {
  readonly name: string;
  readonly statements: (types: ColumnTypes) => readonly string[];
}
