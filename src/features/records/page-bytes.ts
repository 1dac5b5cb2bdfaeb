import { type RawBuilder, sql } from 'kysely';
import { fieldRefusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

const mostBytes = 16 << 20; // written out as JSON in a tenth of a second, during which others wait

/** How many bytes the columns of a row hold, told by the database without reading them. */
export const bytesOf = (columns: readonly string[]): RawBuilder<number> =>
  sql<number>`(${sql.join(
    columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  )})`;

/** How many bytes these columns hold in a tenant's rows. */
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

/** Would the records of a page be too large for one answer? */
export const isPageTooLarge = (bytes: number) => bytes > mostBytes;

/** @param bytes that the long texts of a page's records hold. @throws 400 where that is more than one answer takes */
export function checkPageBytes(bytes: number): void {
  if (isPageTooLarge(bytes))
    throw fieldRefusal(
      'pageSize',
      `must be smaller here: these records hold ${Math.ceil(bytes / 2 ** 20)} MiB, an answer takes ${mostBytes / 2 ** 20} MiB`,
    );
}
