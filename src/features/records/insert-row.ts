import { CompiledQuery, type Insertable } from 'kysely';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** Statements by table and columns, for each connection: writing one out costs more than running it. */
const statements = new WeakMap<Tx, Map<string, CompiledQuery>>();

function statementFor<T extends 'share' | 'audit'>(tx: Tx, table: T, row: Insertable<Database[T]>): CompiledQuery {
  const known = statements.get(tx) ?? new Map<string, CompiledQuery>();
  statements.set(tx, known);
  const key = `${table} ${Object.keys(row).join()}`;
  const compiled = known.get(key) ?? CompiledQuery.raw(tx.insertInto(table).values([row]).returning('id').compile().sql);
  known.set(key, compiled);
  return compiled;
}

/** Inserts a row of many columns. @returns the id that the database gave it */
export async function insertRow<T extends 'share' | 'audit'>(tx: Tx, table: T, row: Insertable<Database[T]>): Promise<number> {
  const { sql } = statementFor(tx, table, row);
  const { rows } = await tx.executeQuery<{ id: number }>(CompiledQuery.raw(sql, Object.values(row)));
  const [made] = rows;
  if (!made) throw new Error(`no row was made in ${table}`);
  return made.id;
}
