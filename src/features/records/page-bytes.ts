import { type RawBuilder, sql } from 'kysely';
import { fieldRefusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

const maxBytes = 16 << 20; // writing them as JSON blocks the event loop for a tenth of a second

/** Returns an SQL expression for the number of bytes in the columns of a row. The database computes it without reading the values. */
export const bytesOf = (columns: readonly string[]): RawBuilder<number> =>
  sql<number>`(${sql.join(
    columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  )})`;

/** Returns the number of bytes in these columns of a tenant's rows. @param id the column that `ids` refer to */
export async function bytesOfRows(
  db: Tx,
  table: keyof Database,
  columns: readonly string[],
  tid: number,
  ids: readonly number[],
  id = 'id',
): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await sql<{ bytes: number }>`select coalesce(sum(${bytesOf(columns)}), 0) as bytes from ${sql.table(table)}
    where tid = ${tid} and ${sql.ref(id)} in (${sql.join(ids)})`.execute(db);
  return rows[0]?.bytes ?? 0;
}

export const isPageTooLarge = (bytes: number) => bytes > maxBytes;

/** Checks that a page fits into one response. @param bytes size of the long texts of its records. @throws Refusal (400) */
export function checkPageBytes(bytes: number): void {
  if (isPageTooLarge(bytes))
    throw fieldRefusal(
      'pageSize',
      `must be smaller: these records have ${Math.ceil(bytes / 2 ** 20)} MiB, and a response can have at most ${maxBytes / 2 ** 20} MiB`,
    );
}
