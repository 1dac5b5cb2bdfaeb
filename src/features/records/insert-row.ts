import { CompiledQuery, type InsertObject, isOperationNodeSource, sql } from 'kysely';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** Tables into which frequent requests insert rows. */
type FrequentTable = 'share' | 'audit' | 'alert' | 'sign_in_code' | 'mail_content' | 'delivery';

/** Compiled statements by table, columns and result, for each connection: compiling one costs more than running it. */
const statements = new WeakMap<Tx, Map<string, string>>();

function statementFor<T extends FrequentTable>(tx: Tx, table: T, row: InsertObject<Database, T>, returns: 'id' | 'nothing'): string {
  const texts = statements.get(tx) ?? new Map<string, string>();
  statements.set(tx, texts);
  const key = `${table} ${returns} ${Object.keys(row).join()}`;
  const sqlText = texts.get(key);
  if (sqlText !== undefined) return sqlText;
  const insert = tx.insertInto(table).values([row]);
  const statement = returns === 'id' ? insert.returning(sql<number>`id`.as('id')).compile() : insert.compile();
  texts.set(key, statement.sql);
  return statement.sql;
}

/** Returns the values of a row without its SQL expressions, which are part of the statement. */
const valuesOf = (row: object): unknown[] => Object.values(row).filter((value) => !isOperationNodeSource(value));

/**
 * Inserts a row.
 * @param row values, and SQL expressions without parameters, such as the time of the database. A column that gets an expression must
 *   always get the same one, because the compiled statement contains it.
 */
export async function insertRow<T extends FrequentTable>(tx: Tx, table: T, row: InsertObject<Database, T>): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(statementFor(tx, table, row, 'nothing'), valuesOf(row)));
}

/** Inserts a row as `insertRow` does, but is slower in SQLite, because it returns the id. @returns the id of the new row */
export async function insertRowWithId<T extends Exclude<FrequentTable, 'alert'>>(
  tx: Tx,
  table: T,
  row: InsertObject<Database, T>,
): Promise<number> {
  const { rows } = await tx.executeQuery<{ id: number }>(CompiledQuery.raw(statementFor(tx, table, row, 'id'), valuesOf(row)));
  const [newRow] = rows;
  if (!newRow) throw new Error(`no row was inserted into ${table}`);
  return newRow.id;
}
