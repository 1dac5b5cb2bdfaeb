import { sql } from 'kysely';
import type { LastIds } from '#ports/last-ids.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the last id that AUTOINCREMENT has assigned, by table. */
export async function sqliteLastIds(db: Tx): Promise<LastIds> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(db);
  return Object.fromEntries(rows.map(({ name, seq }) => [name, seq]));
}

/** Sets the last id of each given table, so that the database assigns only higher ids there. */
export async function setSqliteLastIds(tx: Tx, ids: LastIds): Promise<void> {
  for (const [name, seq] of Object.entries(ids)) {
    await sql`delete from sqlite_sequence where name = ${name}`.execute(tx);
    await sql`insert into sqlite_sequence (name, seq) values (${name}, ${seq})`.execute(tx);
  }
}
