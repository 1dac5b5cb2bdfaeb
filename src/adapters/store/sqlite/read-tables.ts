/** Counts the changes of tables. */
export class TableVersions {
  readonly #versions = new Map<string, number>();
  /** Number of changes, of all tables together. */
  changes = 0;

  /** Returns a number that differs after each change of the table. */
  of(table: string): number {
    return this.#versions.get(table) ?? 0;
  }

  noteChanges(tables: Iterable<string>): void {
    for (const table of tables) {
      this.changes += 1;
      this.#versions.set(table, this.of(table) + 1);
    }
  }
}

/** The tables that a result was read from. The result is current until one of these tables changes. */
export class ReadTables {
  readonly #versions: TableVersions;
  /** The version that each table had before it was read. */
  readonly #readVersions = new Map<string, number>();
  readonly #parts: ReadTables[] = [];
  /** Value of `changes` when the result was last found to be current. */
  #currentAt: number;

  constructor(versions: TableVersions, tables: Iterable<string> = []) {
    this.#versions = versions;
    this.#currentAt = versions.changes;
    this.add(tables);
  }

  /** Adds tables. Call it before they are read. */
  add(tables: Iterable<string>): void {
    for (const table of tables) if (!this.#readVersions.has(table)) this.#readVersions.set(table, this.#versions.of(table));
  }

  /** Adds the tables of another result, from which this one is computed. */
  include(part: ReadTables): void {
    this.#parts.push(part);
  }

  isCurrent(): boolean {
    const { changes } = this.#versions;
    if (this.#currentAt === changes) return true;
    for (const [table, version] of this.#readVersions) if (this.#versions.of(table) !== version) return false;
    if (!this.#parts.every((part) => part.isCurrent())) return false;
    this.#currentAt = changes;
    return true;
  }
}
