import { sql } from 'kysely';
import type { LastIds } from '#ports/last-ids.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the last id that each identity column has assigned, by table. */
export async function postgresLastIds(db: Tx): Promise<LastIds> {
  const { rows } = await sql<{ name: string; last: number | null }>`
    select c.table_name as name, s.last_value as last
    from information_schema.columns c
    join pg_sequences s on s.schemaname = c.table_schema
      and quote_ident(s.schemaname) || '.' || quote_ident(s.sequencename) = pg_get_serial_sequence(quote_ident(c.table_name), c.column_name)
    where c.table_schema = current_schema() and c.is_identity = 'YES'`.execute(db);
  return Object.fromEntries(rows.flatMap(({ name, last }) => (last === null ? [] : [[name, last]])));
}

/** Sets the last id of each table, so that the database assigns only greater ids. */
export async function setPostgresLastIds(tx: Tx, ids: LastIds): Promise<void> {
  for (const [table, last] of Object.entries(ids)) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(tx);
}
