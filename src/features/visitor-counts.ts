import { type SelectQueryBuilder, sql } from 'kysely';
import { formatInstant } from '#core/instant.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

const day = 86_400_000; // ms
const counted = (...of: string[]) => sql<number>`sum(case when action in (${sql.join(of)}) then count else 0 end)`;

/** What visitors did, summed over rows of the trail. */
export const sums = { visits: counted('visit'), downloads: counted('download', 'downloadFolder'), uploads: counted('upload') };

/** What visitors of a tenant did in that time (ms since the epoch; null: without a bound). */
export function doneByVisitors(db: Tx, tid: number, from: number | null, before: number | null) {
  let rows = db.selectFrom('audit').where('tid', '=', tid).where('actor_kind', '=', 'visitor').where('outcome', 'in', ['done', 'begun']);
  if (from !== null) rows = rows.where('at', '>=', from);
  return before === null ? rows : rows.where('at', '<', before);
}
export type DoneByVisitors = SelectQueryBuilder<Database, 'audit', object>;

/** The sums by day in UTC; days without any are left out. */
export async function countsByDay(rows: DoneByVisitors) {
  const start = sql<number>`at - at % ${sql.lit(day)}`;
  const days = await rows
    .select([start.as('start'), sums.visits.as('visits'), sums.downloads.as('downloads'), sums.uploads.as('uploads')])
    .groupBy(start)
    .orderBy('start')
    .execute();
  return days.map(({ start: at, ...numbers }) => ({ date: formatInstant(at).slice(0, 10), ...numbers }));
}
