/** How the engines write what they share. */
export interface ColumnTypes {
  /** A number that the engine gives out, never twice. */
  readonly identity: string;
  /** A 64-bit integer. */
  readonly integer: string;
}

/** A step from one form of the database to the next; never changed once released. */
export interface Migration {
  readonly name: string;
  readonly statements: (types: ColumnTypes) => readonly string[];
}
