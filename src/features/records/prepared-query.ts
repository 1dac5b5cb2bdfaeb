import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Tx } from '#ports/store.ts';

/** Where a value goes in a statement that was written out before. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Names a value of a prepared statement: `p('tid')`. */
export type QueryParameter<Values> = <K extends keyof Values & string>(name: K) => RawBuilder<Values[K]>;

/**
 * A statement that is written out once for each connection: for what is asked at every request, where writing it out
 * costs more than asking.
 * @param build names its values by `p`, and depends on nothing else
 */
export function preparedQuery<Values extends object, Row>(
  build: (db: Tx, p: QueryParameter<Values>) => Compilable<Row>,
): (db: Tx, values: Values) => Promise<Row[]> {
  const written = new WeakMap<Tx, CompiledQuery<Row>>();
  return async (db, values) => {
    let query = written.get(db);
    if (!query) {
      query = build(db, (name) => sql`${new Slot(name)}`).compile();
      written.set(db, query);
    }
    const parameters = query.parameters.map((value) => (value instanceof Slot ? Reflect.get(values, value.name) : value));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}
