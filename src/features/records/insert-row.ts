import { CompiledQuery, type InsertObject, isOperationNodeSource } from 'kysely';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** Tables into which frequent requests insert rows. */
type FrequentTable = 'share' | 'audit' | 'alert' | 'sign_in_code' | 'mail_content' | 'delivery';

/** Compiled statements by table and columns, for each connection: compiling one costs more than running it. */
const statements = new WeakMap<Tx, Map<string, CompiledQuery>>();

function statementFor<T extends FrequentTable>(tx: Tx, table: T, row: InsertObject<Database, T>): CompiledQuery {
  const cached = statements.get(tx) ?? new Map<string, CompiledQuery>();
  statements.set(tx, cached);
  const key = `${table} ${Object.keys(row).join()}`;
  const compiled = cached.get(key) ?? CompiledQuery.raw(tx.insertInto(table).values([row]).returning('id').compile().sql);
  cached.set(key, compiled);
  return compiled;
}

/**
 * Inserts a row.
 * @param row values, and expressions without values such as the time of the database: always the same one in a column
 * @returns the id of the new row
 */
export async function insertRow<T extends FrequentTable>(tx: Tx, table: T, row: InsertObject<Database, T>): Promise<number> {
  const { sql } = statementFor(tx, table, row);
  const values = Object.values(row).filter((value) => !isOperationNodeSource(value));
  const { rows } = await tx.executeQuery<{ id: number }>(CompiledQuery.raw(sql, values));
  const [inserted] = rows;
  if (!inserted) throw new Error(`no row was made in ${table}`);
  return inserted.id;
}
