/** SQL that both engines have, but write differently. */
export interface ColumnTypes {
  readonly engine: 'sqlite' | 'postgres';
  /** Column of an id that the engine assigns and never reuses. */
  readonly identity: string;
  /** Column of such an id in a table of tenants' records, and the key of that table. */
  readonly tenantIdentity: string;
  readonly tenantKey: string;
  /** A 64-bit integer. */
  readonly integer: string;
  /** Text that is compared by code points. */
  readonly text: string;
}

/** A step from one version of the schema to the next. A released step is never changed. */
export interface Migration {
  readonly name: string;
  readonly statements: (types: ColumnTypes) => readonly string[];
}
