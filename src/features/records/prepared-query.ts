import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Tx } from '#ports/store.ts';

/** The place of a value in a compiled statement. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Returns the placeholder of a named value in a prepared statement: `p('tid')`. */
export type QueryParameter<Values> = <K extends keyof Values & string>(name: K) => RawBuilder<Values[K]>;

/**
 * Returns a function that runs a statement. It compiles the statement once for each `Tx`. Use it for statements that run at every
 * request: compiling them costs more than running them.
 * @param build builds the statement from placeholders; its result must not depend on anything else
 */
export function preparedQuery<Values extends object, Row>(
  build: (db: Tx, p: QueryParameter<Values>) => Compilable<Row>,
): (db: Tx, values: Values) => Promise<Row[]> {
  const compiledQueries = new WeakMap<Tx, CompiledQuery<Row>>();
  return async (db, values) => {
    let query = compiledQueries.get(db);
    if (!query) {
      query = build(db, (name) => sql`${new Placeholder(name)}`).compile();
      compiledQueries.set(db, query);
    }
    const parameters = query.parameters.map((value) => (value instanceof Placeholder ? Reflect.get(values, value.name) : value));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}
